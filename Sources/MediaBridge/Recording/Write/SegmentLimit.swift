/// Where a file of a recording ends and the next begins.
struct SegmentLimit {
    private var limits: RecordingSegments?
    private var begin = MediaTime.zero
    private var bytes = 0
    /// Since the last unit that a file could have begun with.
    private var group = 0
    private var largestGroup = 0

    /// A file begins.
    mutating func begin(at time: MediaTime, _ limits: RecordingSegments?) {
        self.limits = limits
        begin = time
        bytes = 0
        group = 0
    }

    /// A unit went into the file.
    mutating func add(_ unit: EncodedUnit) {
        bytes += unit.byteCount
        if unit.isKey, unit.kind == .video { group = 0 }
        group += unit.byteCount
        largestGroup = max(largestGroup, group)
    }

    /// Whether a file that could begin with `unit` should.
    func isReached(at unit: EncodedUnit) -> Bool {
        // Half a frame early is on time: times are rounded.
        let slack = MediaTime(nanoseconds: (unit.duration?.nanoseconds ?? 0) / 2)
        if let length = limits?.length, unit.time + slack - begin >= MediaTime(length) {
            return true
        }
        guard let size = limits?.bytes else { return false }
        // The next group of pictures must fit as well, for it cannot be divided.
        return bytes + largestGroup > size
    }
}
