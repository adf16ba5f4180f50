internal import Synchronization

/// The receiver of a membership, as a transport holds it: called until it is released, and never after that.
///
/// Thread: any; ``call(_:)`` one call at a time.
package final class HeldReceiver: Sendable {
    /// One callback of the receiver. Tasks that the callback starts inherit this value, which
    /// identifies them.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let holder: HeldReceiver
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

    package init(_ receiver: any ChannelReceiver) { state = Mutex(State(receiver: receiver)) }

    /// Calls `body` with the receiver.
    ///
    /// - Returns: False, without a call, if the receiver is released.
    @discardableResult
    package func call(_ body: (any ChannelReceiver) -> Void) -> Bool {
        guard let (receiver, number) = state.withLock({ $0.beginTurn() }) else { return false }
        Turn.$current.withValue(Turn(holder: self, number: number)) { body(receiver) }
        state.withLock { $0.isInTurn = false }
        return true
    }

    /// Asks the receiver for a token; `nil` if it is released, or has none.
    package func token(for reason: TokenReason) async throws(EngineError) -> String? {
        guard let receiver = state.withLock({ $0.receiver }) else { return nil }
        return try await receiver.token(for: reason)
    }

    /// Whether the receiver is released.
    package var isReleased: Bool { state.withLock { $0.receiver == nil } }

    /// Releases the receiver: no callback begins after this. One that is running continues.
    package func release() {
        // Released outside the lock, because that may run foreign code.
        _ = state.withLock { $0.receiver.take() }
    }

    /// Whether this runs in a task that the running callback has started, so that the callback may
    /// wait for it.
    package var isInOwnTurn: Bool {
        guard let own = Turn.current, own.holder === self else { return false }
        return state.withLock { $0.isInTurn && $0.turn == own.number }
    }
}
