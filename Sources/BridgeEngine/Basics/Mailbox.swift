package import MediaBasics
internal import Synchronization

/// A bounded queue in front of one receiver. The receiver runs on its own serial queue, so a slow
/// receiver does not delay the threads that post items.
///
/// Thread: any for posting; items are taken one at a time, in order, on `queue`. No item is
/// released under the mailbox's lock, because releasing it may run code of the object that created
/// it.
package final class Mailbox<Item: Sendable>: Sendable {
    /// What happens to an item that is posted while the queue is full.
    package enum WhenFull: Sendable {
        /// Evicts the oldest item.
        case evictOldest
        /// Blocks the poster for at most this duration; then the item is refused.
        case wait(atMost: Duration)
        /// Accepts the item in any case: it does not count towards the depth and is never evicted.
        /// Only the poster limits the number of these items: see ``Placement/kept``.
        case keep
    }
    package enum Verdict: Sendable {
        case taken
        case acceptedByEvictingOldest
        case full
        case closed
    }

    /// The result of placing an item, for posters that hold their own lock: after unlocking, they
    /// wake the receiver and release the evicted item.
    package struct Placement: Sendable {
        package let verdict: Verdict
        /// The item that was evicted; `nil` if none was.
        package let evicted: Item?
        /// Whether the poster must call ``Mailbox/wake()``.
        package let needsWake: Bool
        /// The number of queued items that are never evicted.
        package let kept: Int
    }

    private struct State {
        /// Items that may be evicted.
        var items = Fifo<Item>()
        /// Items that are never evicted. Each is due once `after` of the evictable items have left
        /// `items`.
        var kept = Fifo<(after: Int, item: Item)>()
        /// The total number of items ever added to `items`.
        var entered = 0
        var isOpen = true
        /// Whether posters may wait.
        var mayBlock = true
        var isDraining = false
        /// One signal for each poster that waits for room.
        var waiting: [MonotonicSignal] = []

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
                    verdict = .acceptedByEvictingOldest
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
    private let timeline: any Timeline
    let depth: Int
    private let take: @Sendable (consuming Item) -> Void

    /// - Parameters:
    ///   - depth: The maximum number of queued items; at least one.
    ///   - timeline: Measures how long posters wait.
    ///   - take: Called on `queue`; the mailbox keeps no reference to the item. May block; that
    ///     delays only the items queued behind the current one.
    package init(
        depth: Int, on queue: SerialQueue, of timeline: any Timeline,
        take: @escaping @Sendable (consuming Item) -> Void
    ) {
        self.depth = max(1, depth)
        self.timeline = timeline
        self.queue = queue
        self.take = take
    }

    @discardableResult
    package func post(_ item: Item, whenFull: WhenFull = .evictOldest) -> Verdict {
        switch whenFull {
        case .evictOldest, .keep:
            let placement = place(item, whenFull: whenFull)
            if placement.needsWake { wake() }
            return placement.verdict
        case .wait(let limit): return wait(with: item, for: limit)
        }
    }

    /// Queues the item without blocking and without waking the receiver.
    package func place(_ item: Item, whenFull: WhenFull = .evictOldest) -> Placement {
        state.withLock { $0.place(item, whenFull: whenFull, depth: depth) }
    }

    /// Schedules the receiver. Call it once for each placement whose `needsWake` is true.
    package func wake() { queue.async { [self] in drain() } }

    /// Queues one last item that is never evicted, then closes. Queued items are still delivered.
    package func seal(with last: Item) -> Placement {
        state.withLock { state in
            defer { state.isOpen = false }
            return state.place(last, whenFull: .keep, depth: depth)
        }
    }

    /// Refuses further items and wakes waiting posters. Queued items are still delivered.
    package func close() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = false
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }

    /// Closes the mailbox and discards the queued items.
    ///
    /// - Returns: The number of discarded items.
    @discardableResult
    func abandon() -> Int { abandonedItems().count }

    /// Closes the mailbox, then removes and returns the queued items.
    package func abandonedItems() -> [Item] {
        close()
        return state.withLock { $0.removeAll() }
    }

    func open() { state.withLock { $0.isOpen = true } }

    /// Sets whether posters may wait for room. If not, posters that wait now are woken and refused.
    func setMayBlock(_ mayBlock: Bool) {
        let waiting = state.withLock { state -> [MonotonicSignal] in
            state.mayBlock = mayBlock
            guard !mayBlock else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }

    var isOpenAndEmpty: Bool {
        state.withLock { $0.isOpen && $0.items.isEmpty && $0.kept.isEmpty }
    }

    var waitingItems: Int { state.withLock { $0.items.count + $0.kept.count } }

    private func wait(with item: Item, for limit: Duration) -> Verdict {
        let deadline = timeline.now + limit
        while true {
            let placement = place(item, whenFull: .wait(atMost: limit))
            if placement.needsWake { wake() }
            guard placement.verdict == .full else { return placement.verdict }
            let signal = MonotonicSignal()
            let (isFull, waits) = state.withLock { state in
                let isFull = state.isOpen && state.items.count >= depth
                let waits = isFull && state.mayBlock
                if waits { state.waiting.append(signal) }
                return (isFull, waits)
            }
            if isFull, !waits { return .full }
            // Room may have been made for this poster just before the timeout.
            if waits, !signal.wait(for: deadline - timeline.now, on: timeline),
                state.withLock({ $0.waiting.remove(signal) })
            {
                return .full
            }
        }
    }

    /// Delivers the queued items. Call it on the mailbox's queue.
    func drain() {
        while let item = next() { take(consume item) }
    }

    private func next() -> Item? {
        let (item, waiter) = state.withLock { state -> (Item?, MonotonicSignal?) in
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
