internal import GStreamerKit
internal import MediaBasics
public import MediaCore
internal import Synchronization

/// A WebRTC connection to one peer that sends or receives one video and one audio stream of encoded
/// frames.
///
/// Either side offers: ``offer(isComplete:)`` and ``accept(answer:)``, or ``answer(_:)``. The
/// caller carries descriptions and candidates to the peer. The connection is closed when its last
/// reference is released.
///
/// Thread: any. Source: the W3C's `RTCPeerConnection`, over GStreamer's `webrtcbin`.
public final class PeerConnection: Sendable {
    /// The direction of the media.
    public let role: Role
    let media: Media
    let configuration: Configuration
    let events: PeerEvents

    /// The state of the connection.
    struct Parts {
        /// Whether a description was made, which is possible only once.
        var isUsed = false
        var isClosed = false
        var link: PeerPipeline?
        var streams: [PeerStream] = []
        var senders: [MediaKind: PeerSender] = [:]
        var receiver: PeerReceiver?
        var monitor: PeerMonitor?
        var messages: PeerMessages?
        /// The candidates of the peer that arrived before its description.
        var early: [Candidate] = []
        /// The position of each of the peer's m-lines, by `mid`, in webrtcbin's description; `nil`
        /// before webrtcbin has a description.
        var lines: [String: Int]?
        var connectLimit: OneShotTimer?
    }
    let parts = Mutex(Parts())

    /// Creates a connection. Does not block.
    ///
    /// - Parameters:
    ///   - role: The direction of the media.
    ///   - media: The codecs.
    ///   - configuration: How the peer is reached.
    ///   - observer: Receives states, media and requests. Retained until the connection is closed.
    public init(
        _ role: Role, _ media: Media = Media(), configuration: Configuration = Configuration(),
        observer: any PeerConnectionObserver
    ) {
        self.role = role
        self.media = media
        self.configuration = configuration
        events = PeerEvents(observer)
    }

    deinit { events.end() }

    /// The current state.
    public var state: State { events.present }

    /// The negotiated video codec; `nil` before negotiation, or without video.
    public var videoCodec: VideoCodec? {
        for stream in parts.withLock({ $0.streams }) {
            if case .video(let codec) = stream.codec { return codec }
        }
        return nil
    }

    /// The negotiated audio codec; `nil` before negotiation, or without audio.
    public var audioCodec: AudioCodec? {
        for stream in parts.withLock({ $0.streams }) {
            if case .audio(let codec) = stream.codec { return codec }
        }
        return nil
    }

    /// Closes the connection: the observer is not called after this returns. A second call does
    /// nothing. Do not await it in a call of the observer.
    public func close() async {
        events.end()
        await takeDown()
        await events.drain()
    }

    /// Stops the pipeline and keeps the counts.
    func takeDown() async {
        let (link, monitor, limit) = parts.withLock { parts in
            parts.isClosed = true
            parts.senders.values.forEach { $0.close() }
            parts.messages = nil
            return (parts.link, parts.monitor, parts.connectLimit.take())
        }
        limit?.cancel()
        monitor?.end()
        await link?.stop()
        let last = parts.withLock { $0.link.take() }
        _ = consume last
    }
}
