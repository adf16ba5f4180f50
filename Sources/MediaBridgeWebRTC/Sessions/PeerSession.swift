internal import BridgeEngine
internal import MediaCore
internal import Synchronization

/// The session of one viewer or sender: a peer connection and its counts.
///
/// It belongs to its channel from the offer to the end of the connection. Thread: any.
package final class PeerSession: PeerConnectionObserver {
    /// The kind of a session.
    package enum Kind: String, Hashable, Sendable {
        /// WHEP: receives what the engine publishes.
        case viewer
        /// WHIP: sends to the engine.
        case sender

        var role: PeerConnection.Role { self == .viewer ? .sender : .receiver }
    }
    /// The kind of the session.
    package let kind: Kind
    /// The unguessable ID of the session in URLs.
    package let id = RandomText.hexadecimal(bytes: 16)
    /// The entity tag of the session, with its quotes.
    package let entityTag = "\"\(RandomText.hexadecimal(bytes: 6))\""
    /// The name of the viewer or sender.
    package let user: UserID
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
        var video = UnitCounts()
        var audio = UnitCounts()
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

    /// The connection; `nil` before it is created, and after its end.
    var peer: (any MediaPeer)? { state.withLock { $0.isOver ? nil : $0.peer } }

    /// The ICE user fragment of the peer's candidates (`a=ice-ufrag`); `nil` at first.
    package var userFragment: String? {
        get { state.withLock { $0.userFragment } }
        set { state.withLock { $0.userFragment = newValue } }
    }

    /// Whether the session has ended.
    package var isOver: Bool { state.withLock { $0.isOver } }

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
    package func add(_ candidates: [PeerConnection.Candidate]) {
        let (peer, room) = state.withLock { state in
            let room = min(candidates.count, max(0, Self.maximumCandidates - state.candidates))
            state.candidates += room
            return (state.isOver ? nil : state.peer, room)
        }
        for candidate in candidates.prefix(room) { peer?.add(candidate) }
    }
    private static let maximumCandidates = 256

    /// Ends the session. Returns when its connection is closed.
    package func end() async { await channel.end(self, because: .quit).value }

    // MARK: PeerConnectionObserver

    package func stateChanged(_ state: PeerConnection.State) {
        switch state {
        case .connected: channel.connected(self)
        case .failed: _ = channel.end(self, because: .dropped)
        case .closed: _ = channel.end(self, because: .quit)
        case .new, .connecting, .interrupted: break
        }
    }

    package func receive(_ unit: EncodedVideoFrame) { channel.receive(unit, from: self) }

    package func receive(_ unit: EncodedAudioFrame) { channel.receive(unit, from: self) }

    package func keyFrameNeeded() { channel.keyFrameNeeded(by: self) }

    package func limitChanged(_ limit: VideoLimit) { channel.limitChanged(limit, of: self) }

    package func receive(_ message: ChannelMessage) { channel.receive(message, from: self) }
}
