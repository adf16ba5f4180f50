/// Decides where a file of a recording ends and the next begins.
struct SegmentLimit {
    private var limits: RecordingSegments?
    private var begin = MediaTime.zero
    private var bytes = 0
    /// Bytes since the last unit that a file could have begun with.
    private var group = 0
    private var largestGroup = 0

    /// Notes that a file begins.
    mutating func begin(at time: MediaTime, _ limits: RecordingSegments?) {
        self.limits = limits
        begin = time
        bytes = 0
        group = 0
    }

    /// Notes that a unit was written to the file.
    mutating func add(_ unit: EncodedUnit) {
        bytes += unit.byteCount
        if unit.isKey, unit.kind == .video { group = 0 }
        group += unit.byteCount
        largestGroup = max(largestGroup, group)
    }

    /// Returns whether a new file should begin with `unit`, a unit that it could begin with.
    func isReached(at unit: EncodedUnit) -> Bool {
        // Up to half a frame early counts as on time, because times are rounded.
        let slack = MediaTime(nanoseconds: (unit.duration?.nanoseconds ?? 0) / 2)
        if let length = limits?.length, unit.time + slack - begin >= MediaTime(length) {
            return true
        }
        guard let size = limits?.bytes else { return false }
        // The next group of pictures must fit as well, because it cannot be divided.
        return bytes + largestGroup > size
    }
}
