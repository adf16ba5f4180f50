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
        /// The number of events that wait.
        var waiting = 0
    }
    /// The most events that wait for a receiver. They are never discarded, so a member whose receiver lets
    /// more of them wait is disconnected.
    static let capacity = 4096

    private let state = Mutex(State())
    private let receiver: HeldReceiver
    private let queue: SerialQueue

    init(_ receiver: any ChannelReceiver, label: String) {
        self.receiver = HeldReceiver(receiver)
        queue = SerialQueue(label: label)
    }

    /// Calls `body` with the receiver, unless it is released before.
    ///
    /// - Returns: False if more events wait than may.
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

    /// Calls `body` with the receiver; with `nil` if it is released before. For units, which their streams
    /// count.
    func deliver(_ body: @escaping @Sendable ((any ChannelReceiver)?) -> Void) {
        queue.async { [receiver] in
            if !receiver.call({ body($0) }) { body(nil) }
        }
    }

    /// Tells the receiver that the channel is gone, after what waits, and releases it.
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
