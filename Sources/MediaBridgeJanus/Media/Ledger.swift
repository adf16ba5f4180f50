internal import BridgeEngine
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// The counts of a membership; they remain available after its end. Thread: any.
final class Ledger: Sendable {
    let outgoing = ChannelTallies()
    private let incoming = ChannelTallies()
    private struct State {
        var users: [UserID: ChannelTallies] = [:]
        /// The connection that measures a user's jitter.
        var connections: [UserID: PeerConnection] = [:]
    }
    private let state = Mutex(State())

    /// Returns the counts of a user in the channel, which start when the user joins.
    func user(_ user: UserID) -> ChannelTallies {
        state.withLock { state in
            if let counts = state.users[user] { return counts }
            let counts = ChannelTallies(addingTo: incoming)
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
        statistics.outgoing = outgoing.video.frames
        statistics.sent = statistics.outgoing.offered
        statistics.outgoingAudio = outgoing.audio.frames
        statistics.incoming = incoming.video.frames
        statistics.incomingAudio = incoming.audio.frames
        statistics.from = users.mapValues { $0.video.frames }
        for (user, connection) in connections {
            let measured = connection.statistics
            statistics.jitter[user] = measured.video.jitter
            statistics.audioJitter[user] = measured.audio.jitter
        }
        return statistics
    }
}
