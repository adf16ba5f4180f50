internal import Synchronization

/// A count that one thread adds to and any thread reads.
final class Tally: Sendable {
    private let total = Atomic<Int>(0)

    var value: Int { total.load(ordering: .relaxed) }

    func count() { total.add(1, ordering: .relaxed) }

    func reset() { total.store(0, ordering: .relaxed) }
}
