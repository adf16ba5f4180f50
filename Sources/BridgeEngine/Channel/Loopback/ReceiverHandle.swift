internal import Synchronization

/// Calls a receiver until it is released, and never after that.
///
/// Thread: any; ``hear(_:)`` one call at a time.
final class ReceiverHandle: Sendable {
    /// One callback of the receiver. Tasks that the callback starts inherit this value, which
    /// identifies them.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let hearing: ReceiverHandle
        let number: Int
    }

    private struct State {
        /// `nil` once it is released.
        var receiver: (any ChannelReceiver)?
        var turn = 0
        var isInTurn = false

        mutating func beginTurn() -> (receiver: any ChannelReceiver, number: Int)? {
            guard let receiver else { return nil }
            turn += 1
            isInTurn = true
            return (receiver, turn)
        }
    }
    private let state: Mutex<State>

    init(_ receiver: any ChannelReceiver) { state = Mutex(State(receiver: receiver)) }

    /// Calls the receiver with the item. If the receiver is released, counts a frame as closed.
    func hear(_ item: LoopbackItem) {
        guard let (receiver, number) = state.withLock({ $0.beginTurn() }) else {
            item.tally?.countClosed()
            return
        }
        Turn.$current.withValue(Turn(hearing: self, number: number)) {
            item.deliver(to: receiver)
        }
        state.withLock { $0.isInTurn = false }
        if case .disconnected = item { letGo() }
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

    /// Whether this runs in a task that the running callback has started, so that the callback may
    /// wait for it.
    var isInOwnTurn: Bool {
        guard let own = Turn.current, own.hearing === self else { return false }
        return state.withLock { $0.isInTurn && $0.turn == own.number }
    }
}
