internal import Synchronization

/// The most recently made layouts, so that a frame in Swift memory costs no new caps. Thread: any.
final class RecentLayouts<Key: Equatable & Sendable, Layout: Sendable>: Sendable {
    // A list of pairs and not of layouts: a layout's own format has defaults filled in.
    private let latest = Mutex<[(key: Key, layout: Layout)]>([])
    private let make: @Sendable (Key) throws(PipelineError) -> Layout
    /// Maximum number of layouts kept.
    static var capacity: Int { 8 }

    init(_ make: @escaping @Sendable (Key) throws(PipelineError) -> Layout) {
        self.make = make
        GStreamer.onShutDown { [weak self] in self?.latest.withLock { $0 = [] } }
    }

    /// Returns the layout of a format.
    ///
    /// - Throws: What making it throws.
    func layout(of key: Key) throws(PipelineError) -> Layout {
        // Not `first(where:)`, which copies every pair that it looks at.
        let known = latest.withLock { latest -> Layout? in
            for place in latest.indices where latest[place].key == key {
                return latest[place].layout
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
