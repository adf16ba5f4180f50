internal import Dispatch
internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Lets the frames of one track through one at a time, in the order they came.
///
/// No lock is held meanwhile: what happens in a turn may be the program's own code (the end of a frame, a
/// transport), which may come back here. Its frame follows then, when the turn it came from is over.
/// Thread: any.
final class DeliveryTurn<Item: Sendable>: Sendable {
    private struct State {
        /// The thread whose turn it is.
        var holder: UInt?
        /// What came from within the turn.
        var own = Fifo<Item>()
        var waiting: [Waiter] = []
    }
    private final class Waiter: Sendable {
        let thread = currentThread()
        let turn = DispatchSemaphore(value: 0)
    }
    private enum Entry {
        case entered, postponed
        case waits(Waiter)
    }
    private let state = Mutex(State())
    private let patience: Duration

    /// - Parameter patience: How long a frame waits for its turn at most.
    init(patience: Duration) { self.patience = patience }

    /// Hands a frame on.
    ///
    /// - Returns: What `deliver` says; accepted where it follows later; ``DropCause/queueFull`` where the
    ///   turn of another did not end in time.
    func take<Outcome: DeliveryOutcome>(
        _ item: consuming Item, deliver: (consuming Item) -> Outcome
    ) -> Outcome {
        switch enter() {
        case .postponed:
            postpone(item)
            return .accepted
        case .entered: break
        case .waits(let waiter):
            let deadline = DispatchTime.now() + patience.dispatchInterval
            if waiter.turn.wait(timeout: deadline) == .timedOut, giveUp(waiter) {
                return .dropped(.queueFull)
            }
        }
        let outcome = deliver(item)
        while let own = nextOrLeave() { _ = deliver(own) }
        return outcome
    }

    /// In its own turn.
    private func postpone(_ item: Item) { state.withLock { $0.own.append(item) } }

    private func enter() -> Entry {
        let thread = currentThread()
        return state.withLock { state in
            switch state.holder {
            case nil:
                state.holder = thread
                return .entered
            case thread: return .postponed
            default:
                let waiter = Waiter()
                state.waiting.append(waiter)
                return .waits(waiter)
            }
        }
    }

    /// - Returns: False where it became its turn in the last moment.
    private func giveUp(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0 === waiter }) else {
                return false
            }
            state.waiting.remove(at: place)
            return true
        }
    }

    private func nextOrLeave() -> Item? {
        let (own, next) = state.withLock { state -> (Item?, Waiter?) in
            if let own = state.own.popFirst() { return (own, nil) }
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.holder = next?.thread
            return (nil, next)
        }
        next?.turn.signal()
        return own
    }
}
