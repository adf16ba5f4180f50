internal import MediaCore

/// Detects the start and the end of a stall and reports each once. The time between two checks does
/// not matter: a stall that ended and began again between them is reported as both changes.
struct StallWatch {
    enum Change { case stalled, resumed }
    /// The start of the stall that was reported; `nil` if none was.
    private var told: MediaTime?

    var isStalled: Bool { told != nil }

    /// Checks for a stall.
    ///
    /// - Parameter since: The time of the last progress; `nil` if no progress is expected.
    /// - Returns: The changes since the last check, in order.
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
