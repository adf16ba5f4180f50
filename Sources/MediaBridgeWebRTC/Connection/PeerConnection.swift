public import BridgeEngine
internal import Dispatch
internal import GStreamerKit
internal import MediaBasics
@_exported public import MediaBridge
public import MediaCore
internal import Synchronization

/// A WebRTC connection to one peer that sends or receives one video and one audio stream of encoded
/// frames.
///
/// ```swift
/// final class Viewer: PeerConnectionObserver {
///     func stateChanged(_ state: PeerConnection.State) { print(state) }
///     func receive(_ frame: EncodedVideoFrame) { print(frame.codec, frame.isKeyFrame) }
/// }
/// let connection = PeerConnection(.receiver, observer: Viewer())
/// let answer = try await connection.answer(offer)  // the peer's text; send it the answer
/// ```
///
/// Either side offers: ``offer()`` and ``accept(answer:)``, or ``answer(_:)``. The
/// caller carries descriptions and candidates to the peer. The connection is closed when its last
/// reference is released.
///
/// Thread: any. Source: the W3C's `RTCPeerConnection`, over GStreamer's `webrtcbin`.
public final class PeerConnection: Sendable {
    /// The direction of the media.
    package let role: Role
    let media: Media
    let configuration: Configuration
    let events: PeerEvents

    /// The state of the connection.
    struct Parts {
        /// Whether a description was made, which is possible only once.
        var isUsed = false
        var isClosed = false
        var link: PeerPipeline?
        /// The packets that had arrived when the pipeline was stopped; `nil` before.
        var arrival: [MediaKind: JitterBufferStatistics]?
        var streams: [PeerStream] = []
        var senders: [MediaKind: PeerSender] = [:]
        var receiver: PeerReceiver?
        var monitor: PeerMonitor?
        var messages: DataChannel?
        /// The channel on which the peer requests the sender's RTP clock.
        var clock: DataChannel?
        /// The candidates of the peer that arrived before its description.
        var early: [Candidate] = []
        /// The position of each of the peer's m-lines, by `mid`, in webrtcbin's description; `nil`
        /// before webrtcbin has a description.
        var lines: [String: Int]?
        var connectLimit: OneShotTimer?
    }
    let parts = Mutex(Parts())

    /// Creates a connection. Does not block; the connection begins with the first description.
    ///
    /// - Parameters:
    ///   - role: The direction of the media.
    ///   - media: The codecs. Default: H.264 before VP8, and Opus.
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
        parts.withLock { $0.streams.lazy.compactMap(\.codec.video).first }
    }

    /// The negotiated audio codec; `nil` before negotiation, or without audio.
    public var audioCodec: AudioCodec? {
        parts.withLock { $0.streams.lazy.compactMap(\.codec.audio).first }
    }

    /// Closes the connection: the observer is not called after this returns. A second call does
    /// nothing. Do not await it in a call of the observer.
    public func close() async {
        events.end()
        await tearDown()
        await events.drain()
    }

    /// Stops the pipeline and keeps the counts.
    func tearDown() async {
        let (link, monitor, limit) = parts.withLock { parts in
            parts.isClosed = true
            parts.senders.values.forEach { $0.close() }
            (parts.messages, parts.clock) = (nil, nil)
            return (parts.link, parts.monitor, parts.connectLimit.take())
        }
        limit?.cancel()
        monitor?.end()
        // The jitter buffers lose their counts with the states of their elements, also in a call at the same time.
        let arrival = link?.arrival
        parts.withLock { $0.arrival = $0.arrival ?? arrival }
        await link?.stop()
        let last = parts.withLock { $0.link.take() }
        _ = consume last
    }
}

// MARK: - Settings and states

extension PeerConnection {
    /// The direction of the media.
    public enum Role: Sendable {
        /// Sends encoded frames: ``send(_:)-(EncodedVideoFrame)``.
        case sender
        /// Receives encoded frames: ``PeerConnectionObserver/receive(_:)-(EncodedVideoFrame)``.
        case receiver
    }

    /// The media of a connection.
    public struct Media: Sendable {
        /// The video codecs in order of preference: H.264 and VP8. Empty: no video.
        public var video: [VideoCodec]
        /// The audio codecs in order of preference: Opus, A-law and µ-law. Empty: no audio.
        public var audio: [AudioCodec]
        /// Whether an offer has a data channel, for ``PeerConnection/send(_:)-(ChannelMessage)``. An answer accepts
        /// one in any case. Default false.
        public var hasDataChannel = false

        /// Creates media with these codecs, without a data channel. Default: H.264 before VP8, and Opus.
        public init(
            video: [VideoCodec] = [.h264, .vp8],
            audio: [AudioCodec] = [.opus]
        ) {
            self.video = video
            self.audio = audio
        }
    }

    /// How a connection reaches its peer.
    public struct Configuration: Sendable {
        /// STUN and TURN servers: `stun://HOST:PORT`, `turn://USER:PASSWORD@HOST:PORT?transport=udp` (or
        /// `tcp`), `turns://…`, user and password percent-escaped. Default: none.
        public var iceServers: [String] = []
        /// Whether media goes only through a TURN server. Default false.
        public var isRelayOnly = false
        /// The addresses of this machine that the peer can reach. Default none: all except loopback
        /// addresses.
        public var localAddresses: [String] = []
        /// How long a receiver waits for late or retransmitted packets. Default 100 ms.
        public var jitterBuffer = Duration.milliseconds(100)
        /// The timeout for gathering the candidates of a description; later candidates are not
        /// included. Default 500 ms. If media goes only through a TURN server, up to 5 s.
        public var gatheringTimeout = Duration.milliseconds(500)
        /// The timeout from the description to the established connection. Default 15 s.
        public var connectTimeout = Duration.seconds(15).asDefaultDeadline
        /// The maximum bit rate of sent video, in bits per second; a slower network reduces it
        /// further. Default: unlimited.
        public var bitRate: Int?
        /// Whether the peer is a Janus server, which interprets receiver reports differently:
        /// ``ReportForJanus``.
        package var isPeerJanus = false

        /// Creates a configuration with the default values.
        public init() {}
    }

    /// The state of a connection, with the names of the W3C's `RTCPeerConnectionState`.
    public enum State: Equatable, Sendable {
        /// No description has been exchanged yet.
        case new
        /// The connection is being established.
        case connecting
        /// Media flows.
        case connected
        /// The peer has been silent for a while; the connection may recover.
        case disconnected
        /// The connection has failed.
        case failed(PipelineError)
        /// The connection was closed, by either side.
        case closed
    }

    /// An ICE candidate.
    public struct Candidate: Equatable, Sendable {
        /// The text after `a=` in a session description: `candidate:1 1 UDP …`.
        public var text: String
        /// The `a=mid` of the candidate's m-line; `nil` for the first m-line, which carries all media of a bundle.
        public var mid: String?

        /// Creates a candidate.
        public init(_ text: String, mid: String? = nil) {
            self.text = text
            self.mid = mid
        }
    }
}

// MARK: - Media

extension PeerConnection {
    /// Sends an encoded video frame (access unit), in decoding order. Never blocks.
    ///
    /// - Returns: Whether it was accepted. If not: `DropCause.notStarted` before the connection is established, `DropCause.needsKeyFrame`
    ///   before the first keyframe, `DropCause.wrongBufferType` for another codec, `DropCause.queueFull` if too
    ///   many frames wait, `DropCause.noTime` without a time, `DropCause.closed` after the end.
    @discardableResult
    public func send(_ frame: EncodedVideoFrame) -> FrameDisposition {
        send(.video) { $0.send(frame) }
    }

    /// Sends an encoded audio frame. Never blocks.
    ///
    /// - Returns: As for ``send(_:)-(EncodedVideoFrame)``; audio has no keyframes.
    @discardableResult
    public func send(_ frame: EncodedAudioFrame) -> FrameDisposition {
        send(.audio) { $0.send(frame) }
    }

    /// Sends an encoded frame of either kind.
    package func send(_ media: ChannelMedia) -> FrameDisposition {
        switch media {
        case .unit(let unit): send(unit)
        case .audioUnit(let unit): send(unit)
        case .picture, .samples: .dropped(.notEnabled)
        }
    }

    private func send(
        _ kind: MediaKind, _ body: (PeerSender) -> FrameDisposition
    ) -> FrameDisposition {
        let (sender, isClosed) = parts.withLock { ($0.senders[kind], $0.isClosed) }
        return sender.map(body) ?? (isClosed ? .dropped(.closed) : .dropped(.notStarted))
    }

    /// The fraction of audio packets that the peer has recently lost, from 0 to 1; zero if the peer does not use
    /// forward error correction.
    package var soundLoss: Double {
        let (monitor, isOfUse) = parts.withLock { parts in
            (parts.monitor, parts.streams.contains { $0.usesInbandFEC })
        }
        return isOfUse ? monitor?.soundLoss ?? 0 : 0
    }

    /// Requests a keyframe from the peer. Does nothing if this side sends, or before the first packet arrived.
    public func requestKeyFrame() {
        let (receiver, monitor) = parts.withLock { ($0.receiver, $0.monitor) }
        monitor?.noteKeyFrameRequest()
        receiver?.requestKeyFrame()
    }

    /// Sends a message of up to `ChannelMessage.maximumSize` bytes over the data channel.
    ///
    /// - Returns: False if there is no data channel, if its queue is full, or if the message is too long.
    @discardableResult
    public func send(_ message: ChannelMessage) -> Bool {
        parts.withLock { $0.messages }?.send(message) ?? false
    }

    /// The counts so far, and the counts that the peer reports. They stay after the end.
    public var statistics: PeerStatistics {
        let (senders, receiver, monitor, link, last) = parts.withLock {
            ($0.senders, $0.receiver, $0.monitor, $0.link, $0.arrival)
        }
        var statistics = receiver?.counts ?? PeerStatistics()
        for (kind, sender) in senders { statistics[kind] = sender.counts }
        monitor?.add(to: &statistics, senders, last ?? link?.arrival ?? [:])
        return statistics
    }
}

// MARK: - Preparation

extension PeerConnection {
    /// Runs `body` and, concurrently, the one-time setup that the first connection of a process
    /// would wait for: it loads the plugins and makes the certificate of all connections, in 0.2 to
    /// 1 s. Returns when both are done. Later calls only run `body`.
    package static func preparing<R: Sendable>(
        _ body: () async throws(EngineError) -> R
    ) async throws(EngineError) -> R {
        _ = preparation
        let result: Result<R, EngineError>
        do throws(EngineError) { result = .success(try await body()) } catch {
            result = .failure(error)
        }
        await withCheckedContinuation { done in
            preparation.notify(queue: .global()) { done.resume() }
        }
        return try result.get()
    }

    private static let preparation: DispatchGroup = {
        let group = DispatchGroup()
        group.enter()
        OpenSSLExit.prevent()
        GStreamer.countAsTeardown(on: SerialQueue(label: "mediabridge.webrtc.preparation")) {
            defer { group.leave() }
            // The first connection reports missing elements.
            _ = try? Pipeline(parsing: "webrtcbin nicesrc srtpenc")
            guard let pipeline = try? Pipeline(parsing: "dtlssrtpdec identity") else { return }
            for state in [PipelineState.ready, .null] {
                _ = try? pipeline.setStateAndWait(state, deadline: .seconds(5))
            }
        }
        return group
    }()
}

// MARK: - PeerStatistics

/// The counts of a peer connection.
public struct PeerStatistics: Sendable {
    /// The counts of one stream.
    public struct Stream: Sendable {
        /// Encoded frames offered to the connection, or received from the peer. Delivered frames
        /// were sent, or passed to the observer.
        public var frames = FrameBalance()
        /// RTP packets sent or received, lost and sent again.
        public var packets = PacketCounts()
        /// Bytes sent or received, without headers.
        public var bytes = 0
        /// The jitter of the packets' arrival (RFC 3550); measured by the peer when sending.
        public var jitter = Duration.zero
        /// Keyframe requests, received from the peer or sent to it. Zero for audio.
        public var keyFrameRequests = 0

        /// Creates counts of zero.
        package init() {}
    }
    /// The packets of both streams.
    package var packets: PacketCounts { video.packets + audio.packets }
    /// The video stream.
    public var video = Stream()
    /// The audio stream.
    public var audio = Stream()
    /// The round-trip time to the peer; `nil` before it is measured.
    public var roundTripTime: Duration?
    /// The estimated capacity of the network in bits per second; `nil` before it is estimated.
    public var availableBitRate: Int?

    /// Creates counts of zero.
    package init() {}

    /// The counts of the stream of one kind.
    subscript(kind: MediaKind) -> Stream {
        get { kind == .video ? video : audio }
        set { if kind == .video { video = newValue } else { audio = newValue } }
    }
}
