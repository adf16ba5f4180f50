/// Decides where a file of a recording ends and the next begins.
struct SegmentLimit {
    private var limits: RecordingSegments?
    /// When the file is to end; `nil` if its duration is not limited.
    private(set) var end: MediaTime?
    private var bytes = 0
    /// Bytes since the last unit that a file could have begun with.
    private var group = 0
    private var largestGroup = 0

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - unit: The unit that it begins with.
    ///   - timeline: Has the wall-clock time of the unit.
    mutating func begin(
        at unit: EncodedUnit, _ limits: RecordingSegments?, _ timeline: RecordingTimeline
    ) {
        self.limits = limits
        bytes = 0
        group = 0
        end = limits?.end(ofFileAt: unit.time, early: unit.slack, timeline)
    }

    mutating func add(_ unit: EncodedUnit) {
        bytes += unit.byteCount
        if unit.isKey, unit.kind == .video { group = 0 }
        group += unit.byteCount
        largestGroup = max(largestGroup, group)
    }

    /// Returns whether a new file should begin with `unit`, a unit that it could begin with.
    func isReached(at unit: EncodedUnit) -> Bool {
        if let end, unit.time + unit.slack >= end { return true }
        guard let size = limits?.bytes else { return false }
        // The next group of pictures must fit as well, because it cannot be divided.
        return bytes + largestGroup > size
    }
}

extension EncodedUnit {
    /// How much earlier than a time the unit may be and still count as on time, because times are
    /// rounded: half its duration.
    var slack: MediaTime { MediaTime(nanoseconds: (duration?.nanoseconds ?? 0) / 2) }
}

extension RecordingSegments {
    /// Returns when a file ends that begins at a time of the recorder; `nil` if its duration is not
    /// limited.
    ///
    /// - Parameter early: How much before the end of a period the file may begin and yet belong to
    ///   the next one.
    func end(
        ofFileAt begin: MediaTime, early: MediaTime, _ timeline: RecordingTimeline
    ) -> MediaTime? {
        guard let length = length.map({ MediaTime($0) }) else { return nil }
        guard isAligned, length > .zero else { return begin + length }
        let wallTime = timeline.wallTime(of: begin)
        let local =
            wallTime + timeline.wallClock.secondsAheadOfUTC(at: wallTime) * 1_000_000_000
        let rest = (local + early.nanoseconds) % length.nanoseconds
        let since = rest < 0 ? rest + length.nanoseconds : rest
        return begin + length + early - MediaTime(nanoseconds: since)
    }
}
