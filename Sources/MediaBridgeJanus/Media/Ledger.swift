internal import BridgeEngine
internal import MediaBridgeWebRTC
internal import Synchronization

/// Counts units of one kind, and adds them to a sum. Thread: any.
final class UnitTally: Sendable {
    private let counts = Mutex(ChannelStatistics.Frames())
    private let sum: UnitTally?

    init(addingTo sum: UnitTally? = nil) { self.sum = sum }

    func count(_ outcome: any WritableKeyPath<ChannelStatistics.Frames, Int> & Sendable) {
        counts.withLock { $0[keyPath: outcome] += 1 }
        sum?.count(outcome)
    }

    var frames: ChannelStatistics.Frames { counts.withLock { $0 } }
}

/// The counts of a membership, available after its end too. Thread: any.
final class Ledger: Sendable {
    /// What came from one user.
    struct User: Sendable {
        let video: UnitTally
        let audio: UnitTally
    }
    let outgoing = UnitTally()
    let outgoingAudio = UnitTally()
    private let incoming = UnitTally()
    private let incomingAudio = UnitTally()
    private struct State {
        var users: [UserID: User] = [:]
        /// The connection that measures a user's jitter.
        var connections: [UserID: PeerConnection] = [:]
    }
    private let state = Mutex(State())

    /// The counts of a user who is in the channel, from its coming on.
    func user(_ user: UserID) -> User {
        state.withLock { state in
            if let counts = state.users[user] { return counts }
            let counts = User(
                video: UnitTally(addingTo: incoming), audio: UnitTally(addingTo: incomingAudio))
            state.users[user] = counts
            return counts
        }
    }

    func setConnection(_ connection: PeerConnection?, of user: UserID) {
        // Released outside the lock: the last reference closes the connection.
        _ = state.withLock { state in
            defer { state.connections[user] = connection }
            return state.connections[user]
        }
    }

    /// Forgets a user who left; what came from it stays in the sums.
    func forget(_ user: UserID) {
        setConnection(nil, of: user)
        state.withLock { $0.users[user] = nil }
    }

    var statistics: ChannelStatistics {
        var statistics = ChannelStatistics()
        let (users, connections) = state.withLock { ($0.users, $0.connections) }
        statistics.outgoing = outgoing.frames
        statistics.sent = statistics.outgoing.sent
        statistics.outgoingAudio = outgoingAudio.frames
        statistics.incoming = incoming.frames
        statistics.incomingAudio = incomingAudio.frames
        statistics.from = users.mapValues { $0.video.frames }
        for (user, connection) in connections {
            let measured = connection.statistics
            statistics.jitter[user] = measured.video.jitter
            statistics.audioJitter[user] = measured.audio.jitter
        }
        return statistics
    }
}
