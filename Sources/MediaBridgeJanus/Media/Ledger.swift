internal import BridgeEngine
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// Counts encoded frames of one kind, and adds them to a total. Thread: any.
final class UnitTally: Sendable {
    private let counts = Mutex(FrameBalance())
    private let sum: UnitTally?

    init(addingTo sum: UnitTally? = nil) { self.sum = sum }

    func count(_ outcome: any WritableKeyPath<FrameBalance, Int> & Sendable) {
        counts.withLock { $0[keyPath: outcome] += 1 }
        sum?.count(outcome)
    }

    var frames: FrameBalance { counts.withLock { $0 } }
}

/// The counts of a membership; they remain available after its end. Thread: any.
final class Ledger: Sendable {
    /// The counts of the media received from one user.
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

    /// Returns the counts of a user in the channel, which start when the user joins.
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

    /// Removes a user that left. The totals keep its counts.
    func forget(_ user: UserID) {
        setConnection(nil, of: user)
        state.withLock { $0.users[user] = nil }
    }

    var statistics: ChannelStatistics {
        var statistics = ChannelStatistics()
        let (users, connections) = state.withLock { ($0.users, $0.connections) }
        statistics.outgoing = outgoing.frames
        statistics.sent = statistics.outgoing.offered
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
