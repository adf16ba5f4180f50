package import BridgeEngine
package import MediaBasics
internal import MediaCore
internal import Synchronization

/// An engine's membership on a server: its publications, its viewers and its senders.
///
/// Thread: any.
package final class ServedChannel: Sendable {
    /// Why a peer is refused.
    package enum Refusal: Error, Sendable {
        /// The engine publishes nothing, or has not sent a frame yet.
        case nothingShared
        /// The maximum number of viewers or senders is reached.
        case full
        /// Too many peers are connecting.
        case crowded
        /// Another sender has this name.
        case nameTaken
        /// The engine has left.
        case over
        /// The connection refused the offer.
        case peer(PeerError)
    }
    /// The maximum numbers of sessions.
    package struct Capacity: Hashable, Sendable {
        package var viewers: Int
        package var senders: Int
        /// Viewers and senders that are not connected yet.
        package var connecting: Int

        package init(viewers: Int, senders: Int, connecting: Int) {
            (self.viewers, self.senders) = (viewers, senders)
            self.connecting = connecting
        }
    }

    struct State {
        var sessions: [String: PeerSession] = [:]
        /// Ended sessions of senders whose last frames the receiver has not taken yet.
        var retiring: [PeerSession] = []
        /// Connected viewers, in the order of arrival.
        var viewers: [PeerSession] = []
        var video: SharedVideo?
        var audio: SharedAudio?
        /// The engine's demands for the users' video.
        var demands: [UserID: VideoDemand?] = [:]
        /// The counts of sessions and publications that have ended.
        var gone = ChannelStatistics()
        var number = 0
        var isOver = false
    }
    let state = Mutex(State())
    let queue: ReceiverQueue
    /// The engine's request to join.
    package let request: ChannelRequest
    let capacity: Capacity
    let configuration: PeerConnection.Configuration
    let makePeer: MakePeer
    let timeline: any Timeline

    /// How long a viewer waits for the engine's first frame.
    static let firstUnitTimeout = Duration.seconds(5).asDefaultDeadline
    /// The maximum number of one peer's messages that wait for the receiver. The session of a peer
    /// that exceeds it ends.
    static let messageDepth = 256

    package init(
        _ request: ChannelRequest, receiver: any ChannelReceiver, capacity: Capacity,
        configuration: PeerConnection.Configuration, timeline: any Timeline,
        makePeer: @escaping MakePeer
    ) {
        self.request = request
        self.capacity = capacity
        self.configuration = configuration
        self.makePeer = makePeer
        self.timeline = timeline
        queue = ReceiverQueue(receiver)
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Connected viewers.
    var viewers: [PeerSession] { state.withLock { $0.viewers } }

    /// Returns the session with this ID from a URL; `nil` if it has ended.
    package func session(_ id: String, _ kind: PeerSession.Kind) -> PeerSession? {
        let session = state.withLock { $0.sessions[id] }
        return session?.kind == kind && session?.isOver == false ? session : nil
    }

    /// Returns the connection counts of the sessions of one kind, by name.
    package func peers(_ kind: PeerSession.Kind) -> [UserID: PeerStatistics] {
        let sessions = state.withLock { state in
            state.sessions.values.filter { $0.kind == kind }
        }
        var counts: [UserID: PeerStatistics] = [:]
        for session in sessions where session.state.withLock({ $0.isConnected }) {
            if let peer = session.peer { counts[session.user] = peer.statistics }
        }
        return counts
    }

    // MARK: The end

    /// Ends the engine's membership: all sessions are closed, and the receiver is not called any
    /// more.
    package func leave() async {
        queue.release()
        let (sessions, video, audio) = state.withLock { state in
            state.isOver = true
            return (Array(state.sessions.values), state.video, state.audio)
        }
        if let video { end(video) }
        if let audio { end(audio) }
        for task in sessions.map({ end($0, because: .quit) }) { await task.value }
        await queue.silence()
    }

    /// Ends a session. Its counts and its name remain until the connection is closed.
    @discardableResult
    func end(_ session: PeerSession, because reason: OfflineReason) -> Task<Void, Never> {
        session.state.withLock { state in
            if let ending = state.ending { return ending }
            state.isOver = true
            let ending = Task.detached { [self] in await finish(session, reason) }
            state.ending = ending
            return ending
        }
    }

    private func finish(_ session: PeerSession, _ reason: OfflineReason) async {
        session.requests.end()
        state.withLock { state in state.viewers.removeAll { $0 === session } }
        let peer = session.state.withLock { $0.peer }
        await peer?.close()
        if session.kind == .sender { retire(session, reason) }
        let video = state.withLock { state in
            state.sessions[session.id] = nil
            if session.kind == .viewer {
                let counts = session.finalFrames()
                state.gone.outgoing = state.gone.outgoing + counts.video
                state.gone.outgoingAudio = state.gone.outgoingAudio + counts.audio
            } else {
                state.retiring.append(session)
            }
            return state.video
        }
        if session.kind == .viewer, let video { updateViewers(of: video) }
        guard session.kind == .sender else { return }
        // After the frames that are still waiting.
        queue.post { [weak self] _ in
            self?.retired(session)
        } unheard: { [weak self] in
            self?.retired(session)
        }
    }

    /// Adds the counts of an ended sender session after all its frames were taken or refused.
    private func retired(_ session: PeerSession) {
        state.withLock { state in
            state.retiring.removeAll { $0 === session }
            let counts = session.finalFrames()
            state.gone.incoming = state.gone.incoming + counts.video
            state.gone.incomingAudio = state.gone.incomingAudio + counts.audio
        }
    }

    // MARK: Statistics

    /// The counts of the channel.
    package var statistics: ChannelStatistics {
        let (sessions, video, gone) = state.withLock { state in
            (Array(state.sessions.values) + state.retiring, state.video, state.gone)
        }
        var statistics = gone
        statistics.sent += video?.sent ?? 0
        for session in sessions {
            let counts = session.frames()
            switch session.kind {
            case .viewer:
                statistics.outgoing = statistics.outgoing + counts.video
                statistics.outgoingAudio = statistics.outgoingAudio + counts.audio
                statistics.to[session.user] = counts.video
            case .sender:
                statistics.incoming = statistics.incoming + counts.video
                statistics.incomingAudio = statistics.incomingAudio + counts.audio
                statistics.from[session.user] = counts.video
                guard let peer = session.peer else { continue }
                let peerCounts = peer.statistics
                statistics.jitter[session.user] = peerCounts.video.jitter
                statistics.audioJitter[session.user] = peerCounts.audio.jitter
            }
        }
        return statistics
    }
}
