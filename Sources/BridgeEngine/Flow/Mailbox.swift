internal import Dispatch
internal import Synchronization

/// A bounded queue in front of one receiver, with a thread's turn of its own: what is slow behind it
/// delays nobody in front of it.
///
/// Thread: any for posting; items are taken one at a time, in order, on `queue`.
final class Mailbox<Item: Sendable>: Sendable {
    /// What happens to an item that finds the queue full.
    enum WhenFull: Sendable {
        /// The oldest gives way.
        case evictOldest
        /// The poster waits, at most this long; then the item is refused.
        case wait(atMost: Duration)
    }
    enum Verdict: Sendable {
        case taken
        case takenForOldest
        case full
        case closed
    }

    private struct State {
        var items: [Item] = []
        var isOpen = true
        var isDraining = false
        /// Posters that wait for room.
        var waiting: [DispatchSemaphore] = []
    }
    private let state = Mutex(State())
    private let queue: DispatchQueue
    let depth: Int
    private let take: @Sendable (Item) -> Void

    /// - Parameters:
    ///   - depth: Items that wait at most; at least one.
    ///   - take: Called on `queue`. May block, and delays nothing but the items behind it.
    init(depth: Int, on queue: DispatchQueue, take: @escaping @Sendable (Item) -> Void) {
        self.depth = max(1, depth)
        self.queue = queue
        self.take = take
    }

    @discardableResult
    func post(_ item: Item, whenFull: WhenFull = .evictOldest) -> Verdict {
        let verdict: Verdict
        switch whenFull {
        case .evictOldest: verdict = put(item, evicts: true)
        case .wait(let limit): verdict = wait(with: item, for: limit)
        }
        return verdict
    }

    /// Takes nothing more, and lets waiting posters go. What waits is still delivered.
    func close() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = false
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }

    /// Closes, and forgets what waits.
    ///
    /// - Returns: How many items were forgotten.
    @discardableResult
    func abandon() -> Int {
        close()
        return state.withLock { state in
            defer { state.items = [] }
            return state.items.count
        }
    }

    func open() { state.withLock { $0.isOpen = true } }

    var waitingItems: Int { state.withLock { $0.items.count } }

    private func put(_ item: Item, evicts: Bool) -> Verdict {
        let (verdict, startsDraining) = state.withLock { state -> (Verdict, Bool) in
            guard state.isOpen else { return (.closed, false) }
            let isFull = state.items.count >= depth
            if isFull, !evicts { return (.full, false) }
            if isFull { state.items.removeFirst() }
            state.items.append(item)
            defer { state.isDraining = true }
            return (isFull ? .takenForOldest : .taken, !state.isDraining)
        }
        if startsDraining { queue.async { [self] in drain() } }
        return verdict
    }

    private func wait(with item: Item, for limit: Duration) -> Verdict {
        let deadline = DispatchTime.now() + limit.timeInterval
        while true {
            let verdict = put(item, evicts: false)
            guard verdict == .full else { return verdict }
            let room = DispatchSemaphore(value: 0)
            let isStillFull = state.withLock { state in
                guard state.isOpen, state.items.count >= depth else { return false }
                state.waiting.append(room)
                return true
            }
            if isStillFull, room.wait(timeout: deadline) == .timedOut, giveUp(room) { return .full }
        }
    }

    /// - Returns: False where room was made for this poster in the last moment.
    private func giveUp(_ room: DispatchSemaphore) -> Bool {
        state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0 === room }) else { return false }
            state.waiting.remove(at: place)
            return true
        }
    }

    private func drain() {
        while let item = next() { take(item) }
    }

    private func next() -> Item? {
        let (item, waiter) = state.withLock { state -> (Item?, DispatchSemaphore?) in
            guard !state.items.isEmpty else {
                state.isDraining = false
                return (nil, nil)
            }
            let item = state.items.removeFirst()
            return (item, state.waiting.isEmpty ? nil : state.waiting.removeFirst())
        }
        waiter?.signal()
        return item
    }
}

extension Duration {
    /// For Dispatch's clocks.
    var timeInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return nanoseconds.overflow
            ? .never : .nanoseconds(Int(nanoseconds.partialValue + attoseconds / 1_000_000_000))
    }
}
