internal import Synchronization

/// A receiver that is called until it is let go of, and never after that.
///
/// Thread: ``hear(_:)`` from one at a time, the rest from any.
final class ReceiverHandle: Sendable {
    /// A call of the receiver. Tasks that the call starts inherit it, and so are known to come from it.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let hearing: ReceiverHandle
        let number: Int
    }

    private struct State {
        /// `nil` from the moment it was let go of.
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

    /// Calls the receiver, or counts a frame that nobody hears any more.
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

    /// No call begins after this. One that is under route goes on.
    func letGo() {
        // Let go of outside of the lock: its end may be other people's code.
        _ = state.withLock { $0.receiver.take() }
    }

    /// Whether this runs in a task that the call under route has started, so that the call may wait for it.
    var isInOwnTurn: Bool {
        guard let own = Turn.current, own.hearing === self else { return false }
        return state.withLock { $0.isInTurn && $0.turn == own.number }
    }
}
