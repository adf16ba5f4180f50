import Foundation

/// A WHIP client of others: Debian's package simple-whip-client, which is webrtcbin in C. Its log goes to
/// ``process``. Thread: any.
public struct WhipClient: Sendable {
    public let process: ChildProcess

    /// Starts it; it sends until it is stopped.
    ///
    /// - Parameters:
    ///   - video: A gst-launch string that ends in RTP with its caps; `nil` sends none.
    ///   - audio: The same.
    ///   - directory: For what it writes.
    ///   - options: Such as `--no-trickle`.
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
                // What it learns of plugins, beside that stub, is for no other program.
                "GST_REGISTRY": directory.file("registry.bin"),
            ])
    }

    /// RTP of H.264 from pictures, for ``init(to:token:video:audio:on:in:_:)``.
    ///
    /// - Parameter reorders: With B-frames.
    public static func h264(_ source: String, reorders: Bool = false) -> String {
        let kind =
            reorders
            ? "bframes=2 b-adapt=false rc-lookahead=0 sync-lookahead=0 ! video/x-h264,profile=main"
            : "tune=zerolatency ! video/x-h264,profile=constrained-baseline"
        return "\(source) ! videoconvert ! x264enc speed-preset=ultrafast threads=1 "
            + "key-int-max=60 \(kind) ! rtph264pay pt=96 "
            + "config-interval=-1 ! application/x-rtp,media=video,encoding-name=H264,payload=96"
    }

    /// RTP of VP8 from pictures.
    public static func vp8(_ source: String) -> String {
        "\(source) ! videoconvert ! vp8enc deadline=1 cpu-used=8 keyframe-max-dist=60 ! "
            + "rtpvp8pay pt=96 picture-id-mode=15-bit ! "
            + "application/x-rtp,media=video,encoding-name=VP8,payload=96"
    }

    /// RTP of Opus: a tone.
    public static let tone =
        "audiotestsrc is-live=true ! audioconvert ! opusenc ! rtpopuspay pt=97 ! "
        + "application/x-rtp,media=audio,encoding-name=OPUS,payload=97"

    /// A library in the place of the one by which libnice talks to routers: that brings in version 3 of
    /// libsoup, and the program, which has version 2, would not start.
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
