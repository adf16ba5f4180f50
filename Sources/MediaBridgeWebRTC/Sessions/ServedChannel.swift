package import BridgeEngine
package import MediaBasics
internal import MediaCore
internal import Synchronization

/// An engine's stay in a server: its publications, its viewers, and those who send to it.
///
/// Thread: any.
package final class ServedChannel: Sendable {
    /// Why a peer is not taken.
    package enum Refusal: Error, Sendable {
        /// The engine publishes nothing, or nothing has come from it yet.
        case nothingShared
        /// As many viewers or senders are there as may be.
        case full
        /// Too many are connecting at this moment.
        case crowded
        /// Another sender has this name.
        case nameTaken
        /// The engine has left.
        case over
        /// The connection refused the offer.
        case peer(PeerError)
    }
    /// How many sessions there may be.
    package struct Capacity: Hashable, Sendable {
        package var viewers: Int
        package var senders: Int
        /// Those who are not connected yet, of both kinds.
        package var connecting: Int

        package init(viewers: Int, senders: Int, connecting: Int) {
            (self.viewers, self.senders) = (viewers, senders)
            self.connecting = connecting
        }
    }

    struct State {
        var sessions: [String: PeerSession] = [:]
        /// Sessions of senders that are over, and whose last units the receiver has not taken yet.
        var retiring: [PeerSession] = []
        /// Viewers who are connected, in the order in which they came.
        var viewers: [PeerSession] = []
        var video: SharedVideo?
        var audio: SharedAudio?
        /// What the engine has said that it wants of a user's video.
        var demands: [UserID: VideoDemand?] = [:]
        /// The counts of sessions and publications that are gone.
        var gone = ChannelStatistics()
        var number = 0
        var isOver = false
    }
    let state = Mutex(State())
    let queue: ReceiverQueue
    /// The engine's request.
    package let request: ChannelRequest
    let capacity: Capacity
    let configuration: PeerConnection.Configuration
    let makePeer: MakePeer
    let timeline: any Timeline

    /// How long a viewer waits for the engine's first unit.
    static let firstUnitTimeout = Duration.seconds(5).asDefaultDeadline
    /// The most messages of one peer that wait for the receiver; the session of one who sends more ends.
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

    /// Viewers who are connected.
    var viewers: [PeerSession] { state.withLock { $0.viewers } }

    /// Returns the session of a URL; `nil` if it has ended.
    package func session(_ id: String, _ kind: PeerSession.Kind) -> PeerSession? {
        let session = state.withLock { $0.sessions[id] }
        return session?.kind == kind && session?.isOver == false ? session : nil
    }

    /// Returns the counts of the connections of one kind, by name.
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

    /// Ends the engine's stay: all sessions are closed, and the receiver is called no more.
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

    /// Ends a session. Its counts and its name are there until the connection is closed.
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
        // Behind the units that still wait.
        queue.post { [weak self] _ in
            self?.retired(session)
        } unheard: { [weak self] in
            self?.retired(session)
        }
    }

    /// Adds the counts of a sender's session, all of whose units have been taken or refused.
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
