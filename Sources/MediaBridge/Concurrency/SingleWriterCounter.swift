internal import Synchronization

/// A count that one thread at a time adds to, and any thread reads. Cheaper than an atomic addition,
/// which would be for several at once.
struct SingleWriterCounter: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// - Returns: The new count.
    @discardableResult
    borrowing func add() -> Int {
        let next = count.load(ordering: .relaxed) &+ 1
        count.store(next, ordering: .releasing)
        return next
    }

    borrowing func reset() { count.store(0, ordering: .releasing) }
}
