internal import BridgeEngine
internal import MediaBasics
internal import Synchronization

/// Calls a membership's receiver, and the feedback of its publications, one call at a time and in order,
/// on a serial queue of the membership, until the receiver is released.
///
/// Thread: any.
final class Inbox: Sendable {
    private struct State {
        var isSealed = false
        /// The number of pending events.
        var waiting = 0
    }
    /// The maximum number of pending events. Events are never discarded, so a member that exceeds
    /// this limit is disconnected.
    static let capacity = 4096

    private let state = Mutex(State())
    private let receiver: HeldReceiver
    private let queue: SerialQueue

    init(_ receiver: any ChannelReceiver, label: String) {
        self.receiver = HeldReceiver(receiver)
        queue = SerialQueue(label: label)
    }

    /// Calls `body` with the receiver, unless it is released first.
    ///
    /// - Returns: False if more events are pending than allowed.
    @discardableResult
    func post(_ body: @escaping @Sendable (any ChannelReceiver) -> Void) -> Bool {
        let (isOpen, hasRoom) = state.withLock { state in
            guard !state.isSealed, !receiver.isReleased else { return (false, true) }
            state.waiting += 1
            return (true, state.waiting <= Self.capacity)
        }
        guard isOpen else { return true }
        queue.async { [self] in
            state.withLock { $0.waiting -= 1 }
            receiver.call(body)
        }
        return hasRoom
    }

    /// Calls `body` with the receiver, or with `nil` if it is released first. For encoded frames,
    /// which their streams count.
    func deliver(_ body: @escaping @Sendable ((any ChannelReceiver)?) -> Void) {
        queue.async { [receiver] in
            if !receiver.call({ body($0) }) { body(nil) }
        }
    }

    /// Reports the end of the channel to the receiver after the pending events, and releases the
    /// receiver.
    func seal(with error: EngineError) {
        let isFirst = state.withLock { state in
            defer { state.isSealed = true }
            return !state.isSealed
        }
        guard isFirst else { return }
        queue.async { [receiver] in
            receiver.call { $0.disconnected(error) }
            receiver.release()
        }
    }

    /// Asks the receiver for a token.
    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        try await receiver.token(for: reason)
    }

    /// Releases the receiver: no callback begins after this. One that is running continues.
    func letGo() { receiver.release() }

    /// Returns when no callback is running; immediately in a task that the running callback has started.
    func silence() async {
        if receiver.isInOwnTurn { return }
        // The queue is serial, so this block runs after the callback.
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}
