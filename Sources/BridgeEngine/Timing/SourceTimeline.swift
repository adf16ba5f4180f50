internal import MediaCore

/// The timestamps of one track, which never go backwards, whichever source the frames come from.
///
/// Used under the lock of its track. A source's own timestamps are converted by its
/// ``SourceClock``.
struct SourceTimeline {
    /// The timestamp of the last frame that was passed on, from any source.
    private(set) var last: MediaTime?
    /// The interval between frames.
    private(set) var interval = MediaTime(nanoseconds: 33_333_333)

    /// Longer intervals say nothing about the frame rate.
    private static let longestInterval = MediaTime(seconds: 1)

    /// Assigns a frame's timestamp when the frame is passed on. Not done earlier, because another
    /// frame may overtake one that is held until it is due.
    ///
    /// - Returns: The frame's timestamp: `due`, but not less than the timestamp of the frame
    ///   before.
    mutating func commit(_ due: MediaTime) -> MediaTime {
        let time = max(due, last ?? due)
        if let last, time > last, time - last < Self.longestInterval { interval = time - last }
        last = time
        return time
    }
}
