internal import Synchronization

/// Channels inside this process: engines that join the same name exchange the same frames, and no pixel
/// is copied.
///
/// A channel comes into being with its first user and goes with its last. Each user has a queue of his
/// own for what he hears: a receiver that is slow loses its oldest frames, which are counted, and harms
/// nobody. What happens in a channel is heard by everybody in one order; a user's frames come after word
/// of his track and before word of its end. Thread: any.
///
/// ```swift
/// let network = LoopbackNetwork.shared
/// let anna = try await network.join(ChannelRequest(channel: "room", userID: "anna"), receiver: receiver)
/// anna.publish(.main)
/// anna.send(frame, track: .main)
/// await anna.leave()
/// ```
public final class LoopbackNetwork: ChannelTransport {
    /// The one that engines use where none is named.
    public static let shared = LoopbackNetwork()

    private struct State {
        var channels: [String: LoopbackChannel] = [:]
        var verifiers: [String: any TokenVerifier] = [:]
    }
    private let state = Mutex(State())
    private let verifier: (any TokenVerifier)?
    /// Frames that wait for one receiver at most; when they are more, its oldest gives route.
    public let depth: Int

    /// A network that knows nothing of others.
    ///
    /// - Parameters:
    ///   - depth: Frames that wait for one receiver at most; at least one.
    ///   - verifier: Checks everybody who joins; `nil` lets everybody in. ``demand(_:forChannel:)`` says
    ///     otherwise for single channels.
    public init(depth: Int = 16, verifier: (any TokenVerifier)? = nil) {
        self.depth = max(1, depth)
        self.verifier = verifier
    }

    /// Demands a token of those who join this channel from now on.
    ///
    /// - Parameter verifier: Checks them instead of the network's own; `nil` brings back that one.
    public func demand(_ verifier: (any TokenVerifier)?, forChannel channel: String) {
        // What was there before ends outside of the lock: it is other people's code.
        _ = state.withLock { state in
            let before = state.verifiers[channel]
            state.verifiers[channel] = verifier
            return before
        }
    }

    /// The channels that somebody is in, in no order.
    public var channelNames: [String] { state.withLock { Array($0.channels.keys) } }

    /// Joins a channel.
    ///
    /// The receiver is told of the users who are there, each followed by his tracks, before the others
    /// are told of the newcomer. It may be called before this returns. It is held until
    /// ``ChannelMembership/leave()`` returns, or the channel is gone; a receiver that itself holds its
    /// membership must therefore leave, or hold it weakly.
    ///
    /// A user whose membership nobody holds any more is gone: the others hear that he was
    /// ``OfflineReason/dropped``. So is one whose receiver lets more than 4096 events wait.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` for a channel or a user without a name,
    ///   ``EngineError/Code/userIDTaken``, what the ``TokenVerifier`` throws, and
    ///   ``EngineError/Code/disconnected`` in a task that is cancelled.
    public func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        try check(request)
        let member = LoopbackMember(request.userID, depth: depth, receiver: receiver)
        let (channel, slot, deferred) = state.withLock { state in
            let channel = state.channels[request.channel] ?? LoopbackChannel()
            let (slot, deferred) = channel.add(member)
            if slot != nil { state.channels[request.channel] = channel }
            return (channel, slot, deferred)
        }
        deferred.finish()
        guard let slot else {
            throw EngineError(
                .userIDTaken,
                message: "somebody is in channel \(request.channel) as \(request.userID)")
        }
        return LoopbackMembership(
            member, in: channel, named: request.channel, at: slot, of: self)
    }

    /// Ends a channel from outside: everybody in it hears ``EngineError/Code/disconnected`` and nothing
    /// more, what he sends is dropped as closed. A channel of that name may be joined anew at once.
    ///
    /// - Returns: False where nobody was in it.
    @discardableResult
    public func close(channel name: String) -> Bool {
        let deferred = state.withLock { state in
            state.channels.removeValue(forKey: name)?
                .end(EngineError(.disconnected, message: "channel \(name) was closed"))
        }
        deferred?.finish()
        return deferred != nil
    }

    func remove(
        _ slot: Int, from channel: LoopbackChannel, named name: String, reason: OfflineReason
    ) {
        let deferred = state.withLock { state in
            let deferred = channel.remove(slot, reason: reason)
            // Another may bear the name already, where this one was closed.
            if channel.isEmpty, state.channels[name] === channel { state.channels[name] = nil }
            return deferred
        }
        deferred.finish()
    }

    private func check(_ request: ChannelRequest) throws(EngineError) {
        guard !Task.isCancelled else {
            throw EngineError(
                .disconnected, message: "joining channel \(request.channel) was cancelled",
                underlying: CancellationError())
        }
        guard !request.channel.isEmpty else {
            throw EngineError(.invalidArgument, message: "a channel needs a name")
        }
        guard !request.userID.name.isEmpty else {
            throw EngineError(
                .invalidArgument, message: "a user of channel \(request.channel) needs a name")
        }
        let verifier = state.withLock { $0.verifiers[request.channel] } ?? verifier
        try verifier?.verify(request)
    }
}
