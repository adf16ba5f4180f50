internal import BridgeEngine
internal import MediaBasics
internal import Synchronization

/// Calls a membership's receiver, and the feedback of its publications, one call at a time and in order,
/// on a serial queue of the membership, until the receiver is released.
///
/// Thread: any.
final class Inbox: Sendable {
    /// One callback. Tasks that it starts inherit this value, which identifies them.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let inbox: Inbox
        let number: Int
    }
    private struct State {
        /// `nil` once it is released.
        var receiver: (any ChannelReceiver)?
        var turn = 0
        var isInTurn = false
        var isSealed = false
        /// The number of events that wait.
        var waiting = 0
    }
    /// The most events that wait for a receiver. They are never discarded, so a member whose receiver lets
    /// more of them wait is disconnected.
    static let capacity = 4096

    private let state: Mutex<State>
    private let queue: SerialQueue

    init(_ receiver: any ChannelReceiver, label: String) {
        state = Mutex(State(receiver: receiver))
        queue = SerialQueue(label: label)
    }

    /// Calls `body` with the receiver, unless it is released before.
    ///
    /// - Returns: False if more events wait than may.
    @discardableResult
    func post(_ body: @escaping @Sendable (any ChannelReceiver) -> Void) -> Bool {
        let (isOpen, hasRoom) = state.withLock { state in
            guard !state.isSealed, state.receiver != nil else { return (false, true) }
            state.waiting += 1
            return (true, state.waiting <= Self.capacity)
        }
        guard isOpen else { return true }
        queue.async { [self] in
            state.withLock { $0.waiting -= 1 }
            run(body)
        }
        return hasRoom
    }

    /// Calls `body` with the receiver; with `nil` if it is released before. For units, which their streams
    /// count.
    func deliver(_ body: @escaping @Sendable ((any ChannelReceiver)?) -> Void) {
        queue.async { [self] in
            if !run({ body($0) }) { body(nil) }
        }
    }

    /// Tells the receiver that the channel is gone, after what waits, and releases it.
    func seal(with error: EngineError) {
        let isFirst = state.withLock { state in
            defer { state.isSealed = true }
            return !state.isSealed
        }
        guard isFirst else { return }
        queue.async { [self] in
            run { $0.disconnected(error) }
            letGo()
        }
    }

    @discardableResult
    private func run(_ body: (any ChannelReceiver) -> Void) -> Bool {
        let turn = state.withLock { state -> (receiver: any ChannelReceiver, number: Int)? in
            guard let receiver = state.receiver else { return nil }
            state.turn += 1
            state.isInTurn = true
            return (receiver, state.turn)
        }
        guard let (receiver, number) = turn else { return false }
        Turn.$current.withValue(Turn(inbox: self, number: number)) { body(receiver) }
        state.withLock { $0.isInTurn = false }
        return true
    }

    /// Asks the receiver for a token.
    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        guard let receiver = state.withLock({ $0.receiver }) else { return nil }
        return try await receiver.token(for: reason)
    }

    /// Releases the receiver: no callback begins after this. One that is running continues.
    func letGo() {
        // Released outside the lock, because that may run foreign code.
        _ = state.withLock { $0.receiver.take() }
    }

    /// Returns when no callback is running; immediately in a task that the running callback has started.
    func silence() async {
        if isInOwnTurn { return }
        // The queue is serial, so this block runs after the callback.
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }

    private var isInOwnTurn: Bool {
        guard let own = Turn.current, own.inbox === self else { return false }
        return state.withLock { $0.isInTurn && $0.turn == own.number }
    }
}
