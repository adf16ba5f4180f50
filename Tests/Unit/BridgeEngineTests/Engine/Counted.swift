import Synchronization

/// Counts from zero. Thread: any.
final class Counted: Sendable {
    private let count = Atomic<Int>(0)
    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
