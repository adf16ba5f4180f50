internal import Synchronization

/// A counter that one thread at a time increments and any thread reads. It is cheaper than an
/// atomic addition, which only several concurrent writers need.
struct SingleWriterCounter: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    /// - Returns: The new count.
    @discardableResult
    borrowing func add() -> Int {
        let next = count.load(ordering: .relaxed) &+ 1
        count.store(next, ordering: .releasing)
        return next
    }

    borrowing func reset() { count.store(0, ordering: .releasing) }
}
