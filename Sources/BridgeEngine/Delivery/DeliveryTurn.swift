internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Delivers the frames of one track one at a time, in the order of arrival.
///
/// No lock is held during a delivery: it may run the program's own code (the release of a frame, a
/// transport), which may deliver a frame here on the same thread. That frame is delivered after the
/// current one. Thread: any.
final class DeliveryTurn<Item: Sendable>: Sendable {
    private struct State {
        /// The thread that is delivering; `nil` if none is.
        var holder: UInt?
        /// Frames that arrived on the delivering thread during its delivery.
        var own = Fifo<Item>()
        var waiting: [Waiter] = []
    }
    private final class Waiter: Sendable {
        let thread = currentThread()
        let turn = MonotonicSignal()
    }
    private enum Entry {
        case entered, postponed
        case waits(Waiter)
    }
    private let state = Mutex(State())
    private let timeout: Duration
    private let timeline: any Timeline

    /// - Parameter timeout: The maximum time that a frame waits for its turn.
    init(timeout: Duration, on timeline: any Timeline) {
        (self.timeout, self.timeline) = (timeout, timeline)
    }

    /// Delivers a frame.
    ///
    /// - Returns: The result of `deliver`; accepted if the frame is delivered later;
    ///   ``DropCause/queueFull`` if another thread's delivery did not end in time.
    func take(
        _ item: consuming Item, deliver: (consuming Item) -> SourceReceipt
    ) -> SourceReceipt {
        switch enter() {
        case .postponed:
            // Queued, because it arrived during the same thread's delivery.
            let item = item
            state.withLock { $0.own.append(item) }
            return .accepted
        case .entered: break
        case .waits(let waiter):
            // The waiter may have got its turn just before the timeout.
            if !waiter.turn.wait(for: timeout, on: timeline),
                state.withLock({ $0.waiting.remove(waiter) })
            {
                return .dropped(.queueFull)
            }
        }
        let outcome = deliver(item)
        while let own = nextOrLeave() { _ = deliver(own) }
        return outcome
    }

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
