internal import MediaBasics
internal import Synchronization

/// Waits for counts that other threads are about to change: a frame is counted a moment after its
/// receiver has returned. Thread: any.
final class CountWatch: Sendable {
    private static let watches = Mutex<[ObjectIdentifier: CountWatch]>([:])
    /// The number of watches, so that a count costs next to nothing while there are none.
    private static let number = Atomic<Int>(0)
    private let change = Mutex(Once<Void>())

    /// Called by every meter after it has counted. The count and this reading are sequentially
    /// consistent, as is the begin of a watch: one of the two threads always sees the other.
    static func noteCount() {
        guard number.load(ordering: .sequentiallyConsistent) > 0 else { return }
        for watch in watches.withLock({ Array($0.values) }) {
            watch.change.withLock { $0 }.resume(())
        }
    }

    /// Reads counts, again after each change, until they are complete.
    ///
    /// - Parameters:
    ///   - limit: The longest wait; `nil` for no limit.
    ///   - isCancellable: Whether the wait also ends when the task is cancelled.
    static func read<Counts>(
        within limit: Duration?, on timeline: any Timeline, isCancellable: Bool = false,
        isolation: isolated (any Actor)? = #isolation, until isComplete: (Counts) -> Bool,
        _ read: () -> Counts
    ) async -> Counts {
        let watch = CountWatch()
        watches.withLock { $0[ObjectIdentifier(watch)] = watch }
        number.add(1, ordering: .sequentiallyConsistent)
        defer {
            number.subtract(1, ordering: .sequentiallyConsistent)
            watches.withLock { $0[ObjectIdentifier(watch)] = nil }
        }
        let end = limit.map { timeline.now + $0 }
        while true {
            let change = Once<Void>()
            watch.change.withLock { $0 = change }
            let counts = read()
            if isComplete(counts) { return counts }
            if let end { change.expire(after: end - timeline.now, on: timeline) }
            if await change.value(isCancellable: isCancellable) == nil { return read() }
        }
    }
}
