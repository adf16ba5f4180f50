public import BridgeEngine
package import MediaBasics
@_exported public import MediaBridge
internal import Synchronization

/// Channels inside this process: engines that join a channel of the same name exchange frames
/// without copying pixels.
///
/// A channel is created with its first user and removed with its last. Each user has its own queue
/// for received items: a slow receiver loses its oldest frames, which are counted, and does not
/// affect the others. All users receive the events of a channel in the same order; a user's frames
/// come after the event that announces the track and before the event that ends it. Thread: any.
///
/// ```swift
/// let network = LoopbackNetwork()
/// let (anna, ben) = (MediaEngine(transport: network), MediaEngine(transport: network))
/// try await anna.joinChannel("room", userID: "anna")
/// try await ben.joinChannel("room", userID: "ben", role: .audience)
/// ```
public final class LoopbackNetwork: ChannelTransport {
    /// A network for all engines of the process.
    public static let shared = LoopbackNetwork()

    struct State {
        var channels: [String: LoopbackChannel] = [:]
        var verifiers: [String: TokenVerifier] = [:]
        var isReachable = true
    }
    let state = Mutex(State())
    private let verifier: TokenVerifier?
    /// The maximum number of video frames that wait for one receiver; if it is exceeded, the oldest
    /// is evicted.
    package let depth: Int
    /// The maximum number of users in one channel; `nil` for any number.
    package let capacity: Int?
    /// How long a user whose connection is cut stays in the channel.
    package let reconnectionTimeout: Duration
    /// Whether raw frames are carried; if not, they must be encoded, as for a real network.
    package let carriesRawFrames: Bool
    private let timeline: any Timeline
    private let timers = SerialQueue(label: "mediabridge.loopback.timers")

    /// Creates a network that is separate from all others.
    ///
    /// - Parameters:
    ///   - depth: The maximum number of video frames that wait for one receiver; at least one.
    ///     Default 16.
    ///   - capacity: The maximum number of users in one channel; `nil`, the default, for any
    ///     number.
    ///   - reconnectionTimeout: How long a user whose connection is cut stays in the channel. Default 30 s.
    ///   - carriesRawFrames: Whether raw frames are carried; if not, they must be encoded, as for a
    ///     real network. Default true.
    ///   - verifier: Checks every user that joins; `nil`, the default, admits all users.
    ///     ``setVerifier(_:forChannel:)`` replaces it for single channels.
    public convenience init(
        depth: Int = 16, capacity: Int? = nil, reconnectionTimeout: Duration = .seconds(30),
        carriesRawFrames: Bool = true, verifier: TokenVerifier? = nil
    ) {
        self.init(
            depth: depth, capacity: capacity, reconnectionTimeout: reconnectionTimeout,
            carriesRawFrames: carriesRawFrames, verifier: verifier, timeline: .system)
    }

    /// - Parameter timeline: The time of interruptions, key frame requests and tokens.
    package init(
        depth: Int = 16, capacity: Int? = nil, reconnectionTimeout: Duration = .seconds(30),
        carriesRawFrames: Bool = true, verifier: TokenVerifier? = nil, timeline: any Timeline
    ) {
        self.depth = max(1, depth)
        self.capacity = capacity
        self.reconnectionTimeout = reconnectionTimeout
        self.carriesRawFrames = carriesRawFrames
        self.verifier = verifier
        self.timeline = timeline
    }

    /// Sets what checks the tokens of users that join this channel from now on.
    ///
    /// - Parameters:
    ///   - verifier: Checks these users instead of the network's own verifier; `nil` restores that
    ///     one.
    ///   - channel: The channel's name.
    public func setVerifier(_ verifier: TokenVerifier?, forChannel channel: String) {
        // The previous verifier is released outside the lock, because that may run foreign code.
        _ = state.withLock { state in
            let before = state.verifiers[channel]
            state.verifiers[channel] = verifier
            return before
        }
    }

    /// Joins a channel.
    ///
    /// The receiver gets the users already in the channel, each followed by its tracks, before the
    /// others are notified of the new user. It may be called before this function returns. It is
    /// retained until ``ChannelMembership/leave()`` returns or the channel is gone; a receiver that
    /// itself retains its membership must therefore leave, or hold it weakly.
    ///
    /// A user is removed when the last reference to its membership is released, or when more than
    /// 4096 events wait for its receiver. The others are notified with `OfflineReason.dropped`.
    ///
    /// - Throws: `EngineError.Code.invalidArgument` for a channel or a user without a name,
    ///   `EngineError.Code.userIDTaken`, `EngineError.Code.channelFull`,
    ///   `EngineError.Code.unreachable`, the error that the ``TokenVerifier`` throws, and
    ///   `EngineError.Code.disconnected` in a task that is cancelled.
    package func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        let validity = try check(request)
        let member = LoopbackMember(request, depth: depth, receiver: receiver, timeline: timeline)
        let (channel, slot, isFull, deferred) = state.withLock { state in
            let channel =
                state.channels[request.channel]
                ?? LoopbackChannel(reconnectionTimeout: reconnectionTimeout, timeline: timeline)
            let ((slot, isFull), deferred) = channel.change { [capacity] roster -> (Int?, Bool) in
                if let capacity, roster.places.count >= capacity { return (nil, true) }
                return (roster.add(member, wantsAll: request.wantsAllTracks), false)
            }
            if slot != nil { state.channels[request.channel] = channel }
            return (channel, slot, isFull, deferred)
        }
        deferred.finish()
        guard let slot else {
            if isFull {
                throw EngineError(
                    .channelFull,
                    message: "channel \(request.channel) is full: \(capacity ?? 0) users")
            }
            throw EngineError(
                .userIDTaken,
                message: "user ID \(request.userID) is in use in channel \(request.channel)")
        }
        watchToken(of: request, validFor: validity, member, in: channel, at: slot)
        return LoopbackMembership(
            member, in: channel, named: request.channel, at: slot, of: self)
    }

    /// Closes a channel from outside: all its users receive `EngineError.Code.disconnected` and
    /// nothing more, and frames that they send are dropped as closed. A channel of that name may be
    /// joined again immediately.
    ///
    /// - Returns: False if the channel had no users.
    @discardableResult
    public func close(channel name: String) -> Bool {
        let error = EngineError(.disconnected, message: "channel \(name) was closed")
        let deferred = state.withLock { state in
            state.channels.removeValue(forKey: name)?.change { $0.end(error) }.deferred
        }
        guard let deferred else { return false }
        deferred.finish()
        return true
    }

    /// Changes a channel, and removes it if no user is left.
    @discardableResult
    func change<R: Sendable>(
        _ channel: LoopbackChannel, named name: String, _ body: (inout LoopbackRoster) -> R
    ) -> R {
        let (result, deferred) = state.withLock { state in
            let change = channel.change(body)
            // If this channel was closed, another one may have its name already.
            if channel.isEmpty, state.channels[name] === channel { state.channels[name] = nil }
            return change
        }
        deferred.finish()
        return result
    }

    /// - Returns: How long the request's token is valid; `nil` for as long as the user stays.
    private func check(_ request: ChannelRequest) throws(EngineError) -> Duration? {
        guard !Task.isCancelled else {
            throw EngineError(
                .disconnected, message: "joining channel \(request.channel) was cancelled",
                underlying: CancellationError())
        }
        try request.checkNames()
        guard state.withLock({ $0.isReachable }) else {
            throw EngineError(
                .unreachable, message: "the network of channel \(request.channel) is unreachable")
        }
        return try verifier(of: request)?(request.token, request.channel, request.userID)
    }

    func verifier(of request: ChannelRequest) -> TokenVerifier? {
        state.withLock { $0.verifiers[request.channel] } ?? verifier
    }
}

// Simulated network faults.
extension LoopbackNetwork {
    /// Whether users can join. If not, joining fails as `EngineError.Code.unreachable`; users that
    /// have joined stay. Default true.
    public var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set { state.withLock { $0.isReachable = newValue } }
    }

    /// Cuts a user's connection: the user gets `EngineEvent.reconnecting`, frames
    /// from and to it are lost, and events are held back. The user is removed after the timeout that
    /// the network was created with.
    ///
    /// - Returns: False if there is no such user in the channel.
    @discardableResult
    public func cut(_ user: UserID, inChannel name: String) -> Bool {
        guard let (channel, slot, _) = find(user, inChannel: name) else { return false }
        let cause = EngineError(.unreachable, message: "the connection of \(user) was cut")
        if let number = channel.perform({ $0.cut(slot, because: cause) }) {
            reconnect(slot, in: channel, named: name, outage: number)
        }
        return true
    }

    /// Reports an attempt to restore the connection of a member every second, until it is restored or
    /// the member is removed.
    private func reconnect(
        _ slot: Int, in channel: LoopbackChannel, named name: String, outage number: Int
    ) {
        after(.seconds(1), in: channel) { network, channel in
            let isCut = network.change(channel, named: name) { $0.attempt(slot, outage: number) }
            if isCut { network.reconnect(slot, in: channel, named: name, outage: number) }
        }
    }

    /// Restores a user's connection that ``cut(_:inChannel:)`` has cut. A network that verifies tokens
    /// requests one first, and removes the user if it is not valid.
    ///
    /// - Returns: False if there is no such user in the channel.
    @discardableResult
    public func heal(_ user: UserID, inChannel name: String) -> Bool {
        guard let (channel, slot, member) = find(user, inChannel: name) else { return false }
        guard let verifier = verifier(of: member.request) else {
            channel.perform { $0.heal(slot) }
            return true
        }
        Task { [weak channel] in
            guard let channel else { return }
            await renew(.reconnecting, member.request, verifier, member, in: channel, at: slot) {
                (_, _) in channel.perform { $0.heal(slot) }
            }
        }
        return true
    }

    /// Asks a member for a token and checks it. Removes the member if the token is not valid.
    private func renew(
        _ reason: TokenReason, _ request: ChannelRequest, _ verifier: TokenVerifier?,
        _ member: LoopbackMember, in channel: LoopbackChannel, at slot: Int,
        then body: (ChannelRequest, Duration?) -> Void
    ) async {
        var request = request
        do throws(EngineError) {
            request.token = try await member.receiver.token(for: reason) ?? request.token
            let validity = try verifier?(request.token, request.channel, request.userID)
            body(request, validity)
        } catch {
            change(channel, named: request.channel) {
                $0.remove(slot, reason: .dropped, because: error)
            }
        }
    }

    /// Removes a user. The last event of the user is `EngineError.Code.kicked`; the other users
    /// get `OfflineReason.kicked`.
    ///
    /// - Returns: False if there is no such user in the channel.
    @discardableResult
    public func kick(_ user: UserID, fromChannel name: String) -> Bool {
        guard let (channel, slot, _) = find(user, inChannel: name) else { return false }
        let error = EngineError(.kicked, message: "\(user) was removed from channel \(name)")
        change(channel, named: name) { $0.remove(slot, reason: .kicked, because: error) }
        return true
    }

    private func find(
        _ user: UserID, inChannel name: String
    ) -> (LoopbackChannel, Int, LoopbackMember)? {
        guard let channel = state.withLock({ $0.channels[name] }) else { return nil }
        let found = channel.perform { roster in
            roster.places.first { $0.value.member.user == user }.map { ($0.key, $0.value.member) }
        }
        return found.map { (channel, $0.0, $0.1) }
    }

    /// Requests another token before the current one expires, and removes a user without a valid
    /// token.
    func watchToken(
        of request: ChannelRequest, validFor lifetime: Duration?, _ member: LoopbackMember,
        in channel: LoopbackChannel, at slot: Int
    ) {
        guard let lifetime else { return }
        let verifier = verifier(of: request)
        let early = min(lifetime / 5, .seconds(30))
        // The token expires too soon for a request in advance, so the check runs after it has
        // expired.
        let wait = early < .milliseconds(20) ? lifetime + .milliseconds(5) : lifetime - early
        after(wait, in: channel) { [weak member] network, channel in
            Task { [weak network, weak member, weak channel] in
                guard let network, let member, let channel else { return }
                await network.renew(.expiring, request, verifier, member, in: channel, at: slot) {
                    network.watchToken(of: $0, validFor: $1, member, in: channel, at: slot)
                }
            }
        }
    }

    /// Calls `body` after a delay, if the channel still exists then.
    private func after(
        _ delay: Duration, in channel: LoopbackChannel,
        _ body: @escaping @Sendable (LoopbackNetwork, LoopbackChannel) -> Void
    ) {
        _ = timeline.schedule(after: delay, on: timers) { [weak self, weak channel] in
            if let self, let channel { body(self, channel) }
        }
    }
}

/// Checks the token with which a user joins a channel, and each token that replaces it.
///
/// Gets the token, which is `nil` if the user has none, the name of the channel and the id of the user. Returns how
/// long the token remains valid; `nil` for as long as the user stays. Throws `EngineError` with one of the codes for
/// tokens. Thread: any.
public typealias TokenVerifier =
    @Sendable (_ token: String?, _ channel: String, _ user: UserID) throws(EngineError) -> Duration?

extension MediaEngine {
    /// Creates an engine whose channels are inside this process.
    ///
    /// - Parameters:
    ///   - configuration: The engine's settings; the defaults suit a call.
    ///   - transport: Connects the engines that use it and join a channel of the same name.
    public init(configuration: Configuration = Configuration(), transport: LoopbackNetwork) {
        self.init(
            configuration: configuration, backend: GStreamerBackend(), transport: transport)
    }
}
