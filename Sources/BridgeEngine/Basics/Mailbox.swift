internal import Dispatch
internal import MediaBasics
internal import Synchronization

/// A bounded queue in front of one receiver, with a thread's turn of its own: what is slow behind it
/// delays nobody in front of it.
///
/// Thread: any for posting; items are taken one at a time, in order, on `queue`. No item is let go of
/// under the mailbox's lock, because that may run the code of whoever made it.
final class Mailbox<Item: Sendable>: Sendable {
    /// What happens to an item that finds the queue full.
    enum WhenFull: Sendable {
        /// The oldest gives way.
        case evictOldest
        /// The poster waits, at most this long; then the item is refused.
        case wait(atMost: Duration)
        /// It is taken nevertheless, needs no room and never gives way. Nothing bounds these items but
        /// who posts them: see ``Placement/kept``.
        case keep
    }
    enum Verdict: Sendable {
        case taken
        case takenForOldest
        case full
        case closed
    }

    /// What came of placing an item, for posters that hold a lock of their own: they wake the receiver
    /// and let go of the evicted item when they hold it no more.
    struct Placement: Sendable {
        let verdict: Verdict
        /// What gave way.
        let evicted: Item?
        /// Whether the poster must call ``Mailbox/wake()``.
        let needsWake: Bool
        /// Items that wait and never give way.
        let kept: Int
    }

    private struct State {
        /// What may give way.
        var items = Fifo<Item>()
        /// What may not, and how many of the others go before it.
        var kept = Fifo<(after: Int, item: Item)>()
        /// How many were ever put into `items`.
        var entered = 0
        var isOpen = true
        /// Whether posters may wait.
        var mayBlock = true
        var isDraining = false
        /// Posters that wait for room.
        var waiting: [DispatchSemaphore] = []

        mutating func place(_ item: Item, whenFull: WhenFull, depth: Int) -> Placement {
            var verdict = Verdict.taken
            var evicted: Item?
            let isFull = items.count >= depth
            switch whenFull {
            case _ where !isOpen: verdict = .closed
            case .keep: kept.append((entered, item))
            case .wait where isFull: verdict = .full
            case .wait, .evictOldest:
                if isFull {
                    evicted = items.popFirst()
                    verdict = .takenForOldest
                }
                items.append(item)
                entered += 1
            }
            let needsWake = !isDraining && verdict != .closed && verdict != .full
            if needsWake { isDraining = true }
            return Placement(
                verdict: verdict, evicted: evicted, needsWake: needsWake, kept: kept.count)
        }

        mutating func popFirst() -> Item? {
            if let due = kept.first, due.after <= entered - items.count {
                return kept.popFirst()?.item
            }
            return items.popFirst()
        }

        mutating func removeAll() -> [Item] {
            var rest: [Item] = []
            while let item = popFirst() { rest.append(item) }
            return rest
        }
    }
    private let state = Mutex(State())
    private let queue: SerialQueue
    let depth: Int
    private let take: @Sendable (Item) -> Void

    /// - Parameters:
    ///   - depth: Items that wait at most; at least one.
    ///   - take: Called on `queue`. May block, and delays nothing but the items behind it.
    init(depth: Int, on queue: SerialQueue, take: @escaping @Sendable (Item) -> Void) {
        self.depth = max(1, depth)
        self.queue = queue
        self.take = take
    }

    @discardableResult
    func post(_ item: Item, whenFull: WhenFull = .evictOldest) -> Verdict {
        switch whenFull {
        case .evictOldest, .keep:
            let placement = place(item, whenFull: whenFull)
            if placement.needsWake { wake() }
            return placement.verdict
        case .wait(let limit): return wait(with: item, for: limit)
        }
    }

    /// Puts the item in, and neither waits nor wakes the receiver.
    func place(_ item: Item, whenFull: WhenFull = .evictOldest) -> Placement {
        state.withLock { $0.place(item, whenFull: whenFull, depth: depth) }
    }

    /// Starts the receiver's turn. To be called once for each placement that says so.
    func wake() { queue.async { [self] in drain() } }

    /// Takes one item more, which never gives way, and nothing after it. What waits is still delivered.
    func seal(with last: Item) -> Placement {
        state.withLock { state in
            defer { state.isOpen = false }
            return state.place(last, whenFull: .keep, depth: depth)
        }
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
    func abandon() -> Int { abandonedItems().count }

    /// Closes, and takes out what waits.
    func abandonedItems() -> [Item] {
        close()
        return state.withLock { $0.removeAll() }
    }

    func open() { state.withLock { $0.isOpen = true } }

    /// Whether posters may wait for room; those who wait where they may not are let go, and refused.
    func setMayBlock(_ mayBlock: Bool) {
        let waiting = state.withLock { state -> [DispatchSemaphore] in
            state.mayBlock = mayBlock
            guard !mayBlock else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }

    var waitingItems: Int { state.withLock { $0.items.count + $0.kept.count } }

    private func wait(with item: Item, for limit: Duration) -> Verdict {
        let deadline = DispatchTime.now() + limit.dispatchInterval
        while true {
            let placement = place(item, whenFull: .wait(atMost: limit))
            if placement.needsWake { wake() }
            guard placement.verdict == .full else { return placement.verdict }
            let room = DispatchSemaphore(value: 0)
            let (isFull, waits) = state.withLock { state in
                let isFull = state.isOpen && state.items.count >= depth
                let waits = isFull && state.mayBlock
                if waits { state.waiting.append(room) }
                return (isFull, waits)
            }
            if isFull, !waits { return .full }
            if waits, room.wait(timeout: deadline) == .timedOut, giveUp(room) { return .full }
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
            guard let item = state.popFirst() else {
                state.isDraining = false
                return (nil, nil)
            }
            let hasRoom = state.items.count < depth && !state.waiting.isEmpty
            return (item, hasRoom ? state.waiting.removeFirst() : nil)
        }
        waiter?.signal()
        return item
    }
}
