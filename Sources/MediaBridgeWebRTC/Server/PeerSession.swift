package import BridgeEngine
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
    /// The kind of the session.
    let kind: Kind
    /// The unguessable ID of the session in URLs.
    let id = PeerSession.randomDigits(bytes: 16)
    /// The entity tag of the session, with its quotes.
    let entityTag = "\"\(PeerSession.randomDigits(bytes: 6))\""
    /// The name of the viewer or sender.
    let user: UserID
    /// Keyframe requests of the engine to the sender.
    let requests: KeyFrameRequests

    struct State {
        var peer: (any MediaPeer)?
        var isConnected = false
        var isOver = false
        var ending: Task<Void, Never>?
        /// Tracks the references of the frames that go to the viewer, or come from the sender.
        var chain = ReferenceChain()
        /// Frames that were not sent to the viewer because it was still waiting for a keyframe.
        var withheld = 0
        /// The counts of the sender's frames.
        var video = FrameBalance()
        var audio = FrameBalance()
        /// The capacity of the viewer's network; `nil` while it is unknown.
        var limit: VideoLimit?
        /// Which of the sender's streams were announced to the engine; `nil` before the
        /// announcement.
        var announced: (video: Bool, audio: Bool)?
        /// Whether the engine wants the sender's video.
        var isWanted = true
        var waitingMessages = 0
        var candidates = 0
        var userFragment: String?
    }
    let state: Mutex<State>
    let channel: ServedChannel

    init(_ kind: Kind, _ user: UserID, isWanted: Bool, in channel: ServedChannel) {
        self.kind = kind
        self.user = user
        self.channel = channel
        requests = KeyFrameRequests(on: channel.timeline)
        state = Mutex(State(isWanted: isWanted))
    }

    /// Returns unguessable hexadecimal digits, two for each byte.
    private static func randomDigits(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in
            let byte = UInt8.random(in: .min ... .max, using: &generator)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The connection; `nil` before it is created, and after its end.
    var peer: (any MediaPeer)? { state.withLock { $0.isOver ? nil : $0.peer } }

    /// The ICE user fragment of the peer's candidates (`a=ice-ufrag`); `nil` at first.
    var userFragment: String? {
        get { state.withLock { $0.userFragment } }
        set { state.withLock { $0.userFragment = newValue } }
    }

    /// Whether the session has ended.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Sets the connection.
    ///
    /// - Returns: False if the session has already ended.
    func set(_ peer: any MediaPeer) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.peer = peer
            return true
        }
    }

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
    func end() async { await channel.end(self, because: .quit).value }

    // MARK: PeerConnectionObserver

    func stateChanged(_ state: PeerConnection.State) {
        switch state {
        case .connected: channel.connected(self)
        case .failed: _ = channel.end(self, because: .dropped)
        case .closed: _ = channel.end(self, because: .quit)
        case .new, .connecting, .interrupted: break
        }
    }

    func receive(_ unit: EncodedVideoFrame) { channel.receive(unit, from: self) }

    func receive(_ unit: EncodedAudioFrame) { channel.receive(unit, from: self) }

    func keyFrameNeeded() { channel.keyFrameNeeded(by: self) }

    func limitChanged(_ limit: VideoLimit) { channel.limitChanged(limit, of: self) }

    func receive(_ message: ChannelMessage) { channel.receive(message, from: self) }
}

// MARK: - Media and counts

extension PeerSession {
    /// Sends a frame to the viewer, unless it refers to one that the viewer lacks. One call at a time.
    ///
    /// - Returns: Whether the viewer needs a keyframe.
    func send(_ unit: EncodedVideoFrame, _ references: EncodedVideoFrameReferences) -> Bool {
        let peer = state.withLock { state -> (any MediaPeer)? in
            guard !state.isOver, state.isConnected else { return nil }
            guard state.chain.admits(references) else {
                state.withheld += 1
                return nil
            }
            return state.peer
        }
        guard let peer else { return state.withLock { $0.isConnected && !$0.isOver } }
        guard !peer.send(unit).isAccepted else { return false }
        _ = state.withLock { $0.chain.lose() }
        return true
    }

    /// Starts a new chain of references: the next frame to the viewer must be a keyframe.
    func beginAnew() { state.withLock { $0.chain = ReferenceChain() } }

    /// The counts of the frames to the viewer, or from the sender.
    func frames() -> (video: FrameBalance, audio: FrameBalance) {
        guard kind == .viewer else { return state.withLock { ($0.video, $0.audio) } }
        let (peer, withheld) = state.withLock { ($0.peer, $0.withheld) }
        let counts = peer?.statistics ?? PeerStatistics()
        return (
            .init(counts.video.units, withheld: withheld), .init(counts.audio.units, withheld: 0)
        )
    }

    /// The counts after the end: waiting frames are counted as closed.
    func finalFrames() -> (video: FrameBalance, audio: FrameBalance) {
        var (video, audio) = frames()
        video.dropped[.closed] += max(0, video.waiting)
        audio.dropped[.closed] += max(0, audio.waiting)
        return (video, audio)
    }
}

extension FrameBalance {
    /// Creates the counts of a connection, including the frames that were not offered to it.
    ///
    /// - Parameters:
    ///   - units: The outcomes of the frames that were offered to the connection.
    ///   - withheld: Frames that were withheld because a keyframe was missing.
    fileprivate init(_ units: FrameBalance, withheld: Int) {
        self.init(offered: units.offered + withheld, delivered: units.delivered)
        for cause in DropCause.allCases where units.dropped[cause] != 0 {
            dropped[Self.cause(of: cause)] += units.dropped[cause]
        }
        dropped[.needsKeyFrame] += withheld
    }

    /// The cause under which a channel counts a frame that a connection dropped.
    private static func cause(of cause: DropCause) -> DropCause {
        switch cause {
        case .lost, .needsKeyFrame: cause
        case .evicted, .queueFull: .evicted
        default: .closed
        }
    }
}

// MARK: - MediaPeer

/// The connection of a session. Tests replace it.
package protocol MediaPeer: AnyObject, Sendable {
    /// Takes an offer and returns the answer.
    func answer(_ offer: String) async throws(PeerError) -> String
    /// Adds a candidate of the peer.
    func add(_ candidate: PeerConnection.Candidate)
    /// The negotiated video codec.
    var videoCodec: VideoCodec? { get }
    /// The negotiated audio codec.
    var audioCodec: AudioCodec? { get }
    /// Sends an encoded video frame.
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition
    /// Sends an encoded audio frame.
    func send(_ unit: EncodedAudioFrame) -> FrameDisposition
    /// The fraction of audio packets that the peer has recently lost, from 0 to 1.
    var soundLoss: Double { get }
    /// Requests a keyframe from the peer.
    func requestKeyFrame()
    /// Sends a message.
    func send(_ message: ChannelMessage) -> Bool
    /// The counts so far.
    var statistics: PeerStatistics { get }
    /// Closes the connection.
    func close() async
}

extension PeerConnection: MediaPeer {}

/// Makes the connection of a session.
package typealias MakePeer =
    @Sendable (
        PeerConnection.Role, PeerConnection.Media, PeerConnection.Configuration,
        any PeerConnectionObserver
    ) -> any MediaPeer
