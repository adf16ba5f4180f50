package import BridgeEngine
internal import MediaBridge
package import MediaCore
internal import Synchronization

/// The session of one viewer or sender: a peer connection and its counts.
///
/// It belongs to its channel from the offer to the end of the connection. Thread: any.
final class PeerSession: PeerConnectionObserver {
    /// The kind of a session.
    enum Kind: String, Hashable, Sendable {
        /// WHEP: receives what the engine publishes.
        case viewer
        /// WHIP: sends to the engine.
        case sender

        var role: PeerConnection.Role { self == .viewer ? .sender : .receiver }
    }
    let kind: Kind
    /// The unguessable ID of the session in URLs.
    let id = PeerSession.randomDigits(bytes: 16)
    /// The entity tag of the session, with its quotes.
    let entityTag = "\"\(PeerSession.randomDigits(bytes: 6))\""
    /// The name of the viewer or sender.
    let user: UserID
    /// Keyframe requests of the engine to the sender.
    let requests: KeyFrameRequests

    /// The ICE user fragment of the peer's candidates (`a=ice-ufrag`).
    let userFragment: String

    struct State {
        var peer: (any MediaPeer)?
        var isConnected = false
        /// Closes the connection; `nil` until the session ends.
        var ending: Task<Void, Never>?
        var isOver: Bool { ending != nil }
        /// The capacity of the viewer's network; `nil` while it is unknown.
        var limit: VideoLimit?
        /// The sender's streams; `nil` before they are announced to the engine.
        var streams: [MediaKind: ReceivedStream]?
        /// Whether the engine wants the sender's video.
        var isWanted = true
        var waitingMessages = 0
        var candidates = 0
    }
    let state: Mutex<State>
    /// The counts of the sender's frames.
    let tallies = ChannelTallies()
    /// `nil` once the engine's membership has ended.
    private weak let channel: ServedChannel?

    init(
        _ kind: Kind, _ user: UserID, _ userFragment: String, isWanted: Bool,
        in channel: ServedChannel
    ) {
        self.kind = kind
        self.user = user
        self.userFragment = userFragment
        self.channel = channel
        requests = KeyFrameRequests(on: channel.timeline)
        state = Mutex(State(isWanted: isWanted))
    }

    /// Returns unguessable hexadecimal digits, two for each byte.
    private static func randomDigits(bytes: Int) -> String {
        (0..<2 * bytes).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    /// The connection; `nil` before it is created, and after its end.
    var peer: (any MediaPeer)? { state.withLock { $0.isOver ? nil : $0.peer } }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Adds candidates of the peer. Candidates beyond the limit are ignored.
    func add(_ candidates: [PeerConnection.Candidate]) {
        let (peer, room) = state.withLock { state in
            let room = min(candidates.count, max(0, Self.maximumCandidates - state.candidates))
            state.candidates += room
            return (state.isOver ? nil : state.peer, room)
        }
        for candidate in candidates.prefix(room) { peer?.add(candidate) }
    }
    private static let maximumCandidates = 256

    /// Ends the session. Returns when its connection is closed.
    func end() async { await channel?.end(self, because: .quit).value }

    // MARK: PeerConnectionObserver

    func stateChanged(_ state: PeerConnection.State) {
        switch state {
        case .connected: channel?.connected(self)
        case .failed: _ = channel?.end(self, because: .dropped)
        case .closed: _ = channel?.end(self, because: .quit)
        case .new, .connecting, .disconnected: break
        }
    }

    func receive(_ unit: EncodedVideoFrame) { channel?.receive(.unit(unit), from: self) }

    func receive(_ unit: EncodedAudioFrame) { channel?.receive(.audioUnit(unit), from: self) }

    func keyFrameNeeded() { channel?.keyFrameNeeded(by: self) }

    func limitChanged(_ limit: VideoLimit) { channel?.limitChanged(limit, of: self) }

    func receive(_ message: ChannelMessage) { channel?.receive(message, from: self) }
}

// MARK: - Counts

extension PeerSession {
    /// Adds the counts of the frames to the viewer, or from the sender.
    ///
    /// - Parameter isFinal: Whether waiting frames are counted as closed.
    /// - Returns: The counts of the video.
    @discardableResult
    func count(in statistics: inout ChannelStatistics, isFinal: Bool = false) -> FrameBalance {
        let peer = state.withLock { $0.peer }?.statistics ?? PeerStatistics()
        let packets = peer.packets
        var (video, audio) =
            kind == .sender
            ? (tallies.video.frames, tallies.audio.frames)
            : (peer.video.frames.inChannel, peer.audio.frames.inChannel)
        if isFinal {
            video.dropped[.closed] += max(0, video.waiting)
            audio.dropped[.closed] += max(0, audio.waiting)
        }
        switch kind {
        case .viewer:
            statistics.outgoing = statistics.outgoing + video
            statistics.outgoingAudio = statistics.outgoingAudio + audio
            statistics.outgoingPackets = (statistics.outgoingPackets ?? PacketCounts()) + packets
        case .sender:
            statistics.incoming = statistics.incoming + video
            statistics.incomingAudio = statistics.incomingAudio + audio
            statistics.incomingPackets = (statistics.incomingPackets ?? PacketCounts()) + packets
        }
        return video
    }
}

extension FrameBalance {
    /// The counts with the causes under which a channel counts the frames that a connection dropped.
    fileprivate var inChannel: FrameBalance {
        var counts = FrameBalance(offered: offered, delivered: delivered)
        for cause in DropCause.allCases where dropped[cause] != 0 {
            switch cause {
            case .lost, .needsKeyFrame: counts.dropped[cause] += dropped[cause]
            case .evicted, .queueFull: counts.dropped[.evicted] += dropped[cause]
            default: counts.dropped[.closed] += dropped[cause]
            }
        }
        return counts
    }
}

// MARK: - MediaPeer

/// The members of ``PeerConnection`` that a session uses. Tests replace its connection.
package protocol MediaPeer: AnyObject, Sendable {
    var videoCodec: VideoCodec? { get }
    var audioCodec: AudioCodec? { get }
    var soundLoss: Double { get }
    var statistics: PeerStatistics { get }

    func answer(_ offer: String) async throws(PipelineError) -> String
    func add(_ candidate: PeerConnection.Candidate)
    func send(_ frame: EncodedVideoFrame) -> FrameDisposition
    func send(_ frame: EncodedAudioFrame) -> FrameDisposition
    func send(_ message: ChannelMessage) -> Bool
    func requestKeyFrame()
    func close() async
}

extension PeerConnection: MediaPeer {}

/// Makes the connection of a session.
package typealias MakePeer =
    @Sendable (
        PeerConnection.Role, PeerConnection.Media, PeerConnection.Configuration,
        any PeerConnectionObserver
    ) -> any MediaPeer
