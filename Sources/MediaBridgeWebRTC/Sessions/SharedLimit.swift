internal import MediaCore

/// Combines the limits of all viewers into one, because they share one encoding.
///
/// The bit rate is the lowest one, because a viewer that gets more than its network carries sees
/// nothing. It is at least half of the median: slow viewers in the minority cost the others at most
/// half of their bits. (For an even number of viewers, the median is the lower of the two middle
/// values. Of two viewers, the slower one therefore decides.) Size and frame rate are the largest
/// ones: a smaller frame would help no viewer of the larger one.
enum SharedLimit {
    /// The lowest limit, in bits per second: below it, video is not worth sending.
    static let minimum = 100_000
    /// A change of the bit rate by less than this share is not reported.
    private static let significance = 0.05

    /// - Parameter limits: The limits of the viewers that have one.
    static func combined(_ limits: [VideoLimit]) -> VideoLimit {
        var combined = VideoLimit()
        let rates = limits.compactMap(\.bitRate).sorted()
        if let lowest = rates.first {
            let median = rates[(rates.count - 1) / 2]
            combined.bitRate = max(lowest, median / 2, minimum)
        }
        let sizes = limits.compactMap(\.size)
        if sizes.count == limits.count {
            combined.size = sizes.max { $0.width * $0.height < $1.width * $1.height }
        }
        let frameRates = limits.compactMap(\.frameRate)
        if frameRates.count == limits.count { combined.frameRate = frameRates.max() }
        return combined
    }

    /// Returns whether a limit differs enough from the previous one to be reported.
    static func isNews(_ limit: VideoLimit, after before: VideoLimit) -> Bool {
        guard limit.size == before.size, limit.frameRate == before.frameRate,
            let rate = limit.bitRate, let old = before.bitRate
        else { return limit != before }
        return abs(Double(rate - old)) > Double(old) * significance
    }
}
