internal import MediaCore

/// The times of one track: forward, whichever source its frames come from.
///
/// Used under the lock of its track. What each source's own times mean, its ``SourceClock`` says.
struct SourceTimeline {
    /// The time of the frame that went out last, of any source.
    private(set) var last: MediaTime?
    /// How far frames are apart.
    private(set) var interval = MediaTime(nanoseconds: 33_333_333)

    /// Frames that are further apart say nothing about the rate.
    private static let longestInterval = MediaTime(seconds: 1)

    /// A frame goes out. Only here does time go on: a frame that is judged may be overtaken while it is
    /// held until it is due.
    ///
    /// - Returns: Its time: that of the frame before it, where it would lie before that.
    mutating func commit(_ due: MediaTime) -> MediaTime {
        let time = max(due, last ?? due)
        if let last, time > last, time - last < Self.longestInterval { interval = time - last }
        last = time
        return time
    }
}
