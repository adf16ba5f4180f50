internal import Synchronization

/// The most recently made layouts or caps, so that a frame in Swift memory costs no new caps.
/// Thread: any.
final class RecentlyMade<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    // A list of pairs and not of values: a layout's own format has defaults filled in.
    private let latest = Mutex<[(key: Key, value: Value)]>([])
    private let make: @Sendable (Key) throws(PipelineError) -> Value
    /// Maximum number of values kept.
    static var capacity: Int { 8 }

    init(_ make: @escaping @Sendable (Key) throws(PipelineError) -> Value) {
        self.make = make
        GStreamer.onShutDown { [weak self] in self?.latest.withLock { $0 = [] } }
    }

    /// Returns the value for a key, and makes it if it is none of the most recent ones.
    ///
    /// - Throws: What making it throws.
    func value(for key: Key) throws(PipelineError) -> Value {
        // Not `first(where:)`, which copies every pair that it looks at.
        let known = latest.withLock { latest -> Value? in
            for place in latest.indices where latest[place].key == key {
                return latest[place].value
            }
            return nil
        }
        if let known { return known }
        let fresh = try make(key)
        latest.withLock { latest in
            if latest.count >= Self.capacity { latest.removeFirst() }
            latest.append((key, fresh))
        }
        return fresh
    }
}
