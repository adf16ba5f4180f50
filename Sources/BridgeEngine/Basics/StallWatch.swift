internal import MediaCore

/// Tells once that something stands still, and once that it goes on, however far apart the looks at it are:
/// what went on between two looks and stands still again is told as both.
struct StallWatch {
    enum Change { case stalled, resumed }
    /// Since when it stands still, where that was told.
    private var told: MediaTime?

    var isStalled: Bool { told != nil }

    /// - Parameter since: Since when nothing has moved; `nil` where nothing has to.
    /// - Returns: What changed since the last look, in order.
    mutating func look(since: MediaTime?, now: MediaTime, limit: MediaTime) -> [Change] {
        var changes: [Change] = []
        let stands = since.map { now - $0 > limit } ?? false
        if let told, !stands || told != since {
            self.told = nil
            changes.append(.resumed)
        }
        if stands, told == nil {
            told = since
            changes.append(.stalled)
        }
        return changes
    }

    mutating func reset() { told = nil }
}
