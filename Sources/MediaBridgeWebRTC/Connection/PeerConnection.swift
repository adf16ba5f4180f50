internal import GStreamerKit
internal import MediaBasics
public import MediaCore
internal import Synchronization

/// A WebRTC connection to one peer, which sends or receives one video and one audio stream in encoded units.
///
/// Either side offers: ``offer(isComplete:)`` and ``accept(answer:)``, or ``answer(_:)``. How descriptions
/// and candidates reach the peer is the caller's business. A connection that nobody holds any more is
/// closed.
///
/// Thread: any. Source: the W3C's `RTCPeerConnection`, over GStreamer's `webrtcbin`.
public final class PeerConnection: Sendable {
    /// Which way media goes.
    public let role: Role
    let media: Media
    let configuration: Configuration
    let events: PeerEvents

    /// What the connection consists of.
    struct Parts {
        /// Whether a description was made, which is done once.
        var isUsed = false
        var isClosed = false
        var link: PeerPipeline?
        var streams: [PeerStream] = []
        var senders: [MediaKind: PeerSender] = [:]
        var receiver: PeerReceiver?
        var monitor: PeerMonitor?
        var messages: PeerMessages?
        /// The candidates of the peer that came before its description.
        var early: [Candidate] = []
        /// The place of the peer's m-lines in the description that webrtcbin has, by name; `nil` before
        /// it has one.
        var lines: [String: Int]?
        var connectLimit: OneShotTimer?
    }
    let parts = Mutex(Parts())

    /// Creates a connection. Does not block.
    ///
    /// - Parameters:
    ///   - role: Which way media goes.
    ///   - media: The codecs.
    ///   - configuration: How the peer is reached.
    ///   - observer: Receives states, media and requests, until the connection is closed. Retained until
    ///     then.
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

    /// The present state.
    public var state: State { events.present }

    /// The codec of the video that was agreed on; `nil` before that, or if there is none.
    public var videoCodec: EncodedVideoFrame.Codec? {
        for stream in parts.withLock({ $0.streams }) {
            if case .video(let codec) = stream.codec { return codec }
        }
        return nil
    }

    /// The codec of the audio that was agreed on; `nil` before that, or if there is none.
    public var audioCodec: EncodedAudioFrame.Codec? {
        for stream in parts.withLock({ $0.streams }) {
            if case .audio(let codec) = stream.codec { return codec }
        }
        return nil
    }

    /// Closes the connection: when it returns, the observer is called no more. A second call does nothing.
    /// Must not be waited for in a call of the observer.
    public func close() async {
        events.end()
        await takeDown()
        await events.drain()
    }

    /// Ends the pipeline, and keeps the counts.
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
