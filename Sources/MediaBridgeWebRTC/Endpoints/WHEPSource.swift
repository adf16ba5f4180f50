public import MediaBridge
public import MediaCore

/// The pictures and the sound of a WHEP server, as a source: `PipelineVideoSource`'s peer for what a browser
/// or a media server sends.
///
/// ```swift
/// let source = try WHEPSource("https://media.example/whep", token: token)
/// for try await frame in source.frames() { print(frame) }
/// ```
///
/// It connects when it is read or started, and disconnects with the end. Units come encoded, H.264 or VP8,
/// and Opus: a recording and a channel take them as they are, ``frames()`` decodes them. An end of the
/// session is the end of the stream; a connection that fails, or a server that refuses, is an error.
/// Thread: as `PipelineVideoSource`.
public final class WHEPSource: VideoSource, Sendable {
    private let source: PipelineVideoSource

    /// Creates a source. Does not connect.
    ///
    /// - Parameters:
    ///   - url: The URL of the server's endpoint: `https://HOST/PATH`.
    ///   - token: The bearer token; `nil`, the default, for none.
    ///   - configuration: How the server is reached.
    /// - Throws: `PipelineError` for a URL or token that cannot be used, or if GStreamer lacks an element.
    public init(
        _ url: String, token: String? = nil,
        configuration: PeerConnection.Configuration = PeerConnection.Configuration()
    ) throws(PipelineError) {
        let client: SignallingClient
        do throws(PeerError) { client = try SignallingClient(url, token: token) } catch {
            throw PipelineError(error)
        }
        let feed = WHEPFeed(client, PeerConnection.Media(), configuration)
        let text = WHEPText.both
        source = try PipelineVideoSource(text, feed: feed, configuration: .init())
    }

    /// The sound of the same session.
    public var audio: PipelineAudioSource? { source.audio }

    /// The counts so far.
    public var statistics: PipelineVideoSource.Statistics { source.statistics }

    /// Returns the pictures as a sequence: see `PipelineVideoSource.frames()`.
    public func frames() -> FrameSequence { source.frames() }

    /// Returns the units as a sequence: see `PipelineVideoSource.units()`.
    public func units() -> UnitSequence { source.units() }

    // MARK: VideoSource, for an engine's control thread

    /// Receives every picture or unit, and the end of the session.
    public var consumer: (any VideoFrameConsumer)? {
        get { source.consumer }
        set { source.consumer = newValue }
    }

    /// Returns pixel buffers.
    public func bufferType() -> VideoBufferType { source.bufferType() }

    /// Returns that the engine paces what has no time of a clock, as there is none.
    public func pacing() -> MediaPacing { source.pacing() }

    /// Returns the time base that pictures and sound share.
    public func timeBase() -> MediaTimeBase? { source.timeBase() }

    /// Asks the server for a key frame.
    public func requestKeyFrame() -> Bool { source.requestKeyFrame() }

    /// Prepares. Does not connect.
    public func shouldInitialize() throws -> Bool { try source.shouldInitialize() }

    /// Connects, without waiting for it.
    public func shouldStart() throws { try source.shouldStart() }

    /// Disconnects.
    public func shouldStop() throws { try source.shouldStop() }

    /// Releases the pipeline.
    public func shouldDispose() throws { try source.shouldDispose() }
}

/// The strings of captures that a ``WHEPFeed`` fills.
enum WHEPText {
    /// A string with both streams, as units.
    static var both: String {
        [MediaKind.video, .audio].map { "\(input($0)) ! appsink name=\($0.rawValue)" }
            .joined(separator: " ")
    }

    private static func input(_ kind: MediaKind) -> String {
        "appsrc name=\(WHEPFeed.input(kind)) is-live=true format=time"
    }

    /// Returns a string with the streams that there are.
    ///
    /// - Parameters:
    ///   - video: The codec of the pictures; `nil` for none.
    ///   - audio: The codec of the sound; `nil` for none.
    ///   - isDecoded: Whether they are decoded.
    static func text(
        _ video: VideoCodec?, _ audio: AudioCodec?, isDecoded: Bool
    ) -> String {
        func decoder(_ codec: PeerStream.Codec) -> String {
            guard isDecoded, let decoder = PayloadEncoding.of(codec)?.decoder else { return "" }
            return " ! \(decoder)"
        }
        var parts: [String] = []
        if let video {
            parts.append("\(input(.video))\(decoder(.video(video))) ! appsink name=video")
        }
        if let audio {
            parts.append("\(input(.audio))\(decoder(.audio(audio))) ! appsink name=audio")
        }
        return parts.joined(separator: " ")
    }
}
