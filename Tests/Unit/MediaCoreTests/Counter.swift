import Synchronization

/// Counts calls from any thread.
final class Counter: Sendable {
    private let calls = Atomic<Int>(0)

    var value: Int { calls.load(ordering: .acquiring) }
    func count() { calls.add(1, ordering: .acquiringAndReleasing) }
}
