import Foundation

/// A third-party WHIP client: Debian's package simple-whip-client, a webrtcbin program in C. Its
/// log is the output of ``process``. Thread: any.
public struct WhipClient: Sendable {
    public let process: ChildProcess

    /// Starts the client; it sends until it is stopped.
    ///
    /// - Parameters:
    ///   - video: A gst-launch string that ends in RTP with its caps; `nil` sends no video.
    ///   - audio: The same for audio.
    ///   - directory: The directory for the client's files.
    ///   - options: For example `--no-trickle`.
    public init(
        to url: String, token: String? = nil, video: String? = nil, audio: String? = nil,
        on machine: NetworkNamespace, in directory: TemporaryDirectory, _ options: [String] = []
    ) async throws {
        try await Self.makeStub(in: directory)
        var arguments = ["--url", url, "--disable-colors"] + options
        if let token { arguments += ["--token", token] }
        if let video { arguments += ["--video", video] }
        if let audio { arguments += ["--audio", audio] }
        process = try machine.start(
            "whip-client", arguments,
            environment: [
                "LD_LIBRARY_PATH": directory.path,
                // The plugins it registers with the stub loaded must not reach another program's
                // registry.
                "GST_REGISTRY": directory.file("registry.bin"),
            ])
    }

    /// An H.264 RTP stream of a video source, for ``init(to:token:video:audio:on:in:_:)``.
    ///
    /// - Parameter reorders: Whether to use B-frames.
    public static func h264(_ source: String, reorders: Bool = false) -> String {
        let kind =
            reorders
            ? "bframes=2 b-adapt=false rc-lookahead=0 sync-lookahead=0 ! video/x-h264,profile=main"
            : "tune=zerolatency ! video/x-h264,profile=constrained-baseline"
        return "\(source) ! videoconvert ! x264enc speed-preset=ultrafast threads=1 "
            + "key-int-max=60 \(kind) ! rtph264pay pt=96 "
            + "config-interval=-1 ! application/x-rtp,media=video,encoding-name=H264,payload=96"
    }

    /// A VP8 RTP stream of a video source.
    public static func vp8(_ source: String) -> String {
        "\(source) ! videoconvert ! vp8enc deadline=1 cpu-used=8 keyframe-max-dist=60 ! "
            + "rtpvp8pay pt=96 picture-id-mode=15-bit ! "
            + "application/x-rtp,media=video,encoding-name=VP8,payload=96"
    }

    /// An Opus RTP stream of a tone.
    public static let tone =
        "audiotestsrc is-live=true ! audioconvert ! opusenc ! rtpopuspay pt=97 ! "
        + "application/x-rtp,media=audio,encoding-name=OPUS,payload=97"

    /// Builds a stub for the library through which libnice talks to routers. The real library loads
    /// libsoup 3, and the client, which uses libsoup 2, would not start.
    private static func makeStub(in directory: TemporaryDirectory) async throws {
        let source = try directory.write(
            """
            unsigned long gupnp_simple_igd_get_type(void) { return 80; }
            void *gupnp_simple_igd_thread_new(void) { return 0; }
            void gupnp_simple_igd_add_port(void) {}
            void gupnp_simple_igd_remove_port(void) {}
            void gupnp_simple_igd_remove_port_local(void) {}
            """, to: "stub.c")
        let name = "libgupnp-igd-1.0.so.4"
        try await Tool.check(
            "cc",
            ["-shared", "-fPIC", "-Wl,-soname,\(name)", "-o", directory.file(name), source])
    }
}
