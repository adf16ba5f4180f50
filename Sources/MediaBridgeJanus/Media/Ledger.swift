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
        /// The present connections, to the own feeds and from those of others.
        var connections: [FeedID: PeerConnection] = [:]
        /// The packets of earlier connections, by role, and of those from the users in the channel.
        var packets: [PeerConnection.Role: PacketCounts] = [:]
        var received: [UserID: PacketCounts] = [:]
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

    /// Sets the connection of a feed, and adds the packets of the one before to the totals.
    func setConnection(_ connection: PeerConnection?, of feed: FeedID) {
        // Released outside the lock: the last reference closes the connection.
        let before = state.withLock { state in
            defer { state.connections[feed] = connection }
            return state.connections[feed]
        }
        guard let before else { return }
        let counts = before.statistics.packets
        state.withLock { state in
            state.packets.add(counts, for: before.role)
            if before.role == .receiver { state.received.add(counts, for: feed.user) }
        }
    }

    /// Removes a user that left. The totals keep its counts.
    func forget(_ user: UserID) {
        let feeds = state.withLock { state in
            state.users[user] = nil
            return state.connections.keys.filter { $0.user == user }
        }
        for feed in feeds { setConnection(nil, of: feed) }
        state.withLock { $0.received[user] = nil }
    }

    var statistics: ChannelStatistics {
        var statistics = ChannelStatistics()
        let (users, connections, ended, before) = state.withLock {
            ($0.users, $0.connections, $0.packets, $0.received)
        }
        var (packets, received) = (ended, before)
        statistics.outgoing = outgoing.video.frames
        statistics.sent = statistics.outgoing.offered
        statistics.outgoingAudio = outgoing.audio.frames
        statistics.incoming = incoming.video.frames
        statistics.incomingAudio = incoming.audio.frames
        statistics.from = users.mapValues { $0.video.frames }
        for (feed, connection) in connections {
            let measured = connection.statistics
            packets.add(measured.packets, for: connection.role)
            guard connection.role == .receiver else { continue }
            received.add(measured.packets, for: feed.user)
            guard feed.track == .main else { continue }
            statistics.jitter[feed.user] = measured.video.jitter
            statistics.audioJitter[feed.user] = measured.audio.jitter
        }
        (statistics.outgoingPackets, statistics.incomingPackets) = (
            packets[.sender], packets[.receiver]
        )
        statistics.fromPackets = received
        return statistics
    }
}

extension Dictionary where Value == PacketCounts {
    fileprivate mutating func add(_ counts: PacketCounts, for key: Key) {
        self[key] = (self[key] ?? PacketCounts()) + counts
    }
}
