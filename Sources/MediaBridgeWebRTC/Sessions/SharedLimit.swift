internal import MediaCore

/// Makes one limit of those of all viewers, who get the same encoding.
///
/// The bit rate is the lowest one, because a viewer who gets more than fits sees nothing, but not less than
/// half of the median's: however slow a minority is, it takes at most half of the bits from the others. (Of an
/// even number the median is the lower of the two in the middle, so that of two viewers the slower one
/// decides.) Size and frame rate are the largest ones: a smaller picture would help nobody who takes the larger.
enum SharedLimit {
    /// No limit is lower than this, in bits per second: below it a picture is not worth sending.
    static let minimum = 100_000
    /// A change of the bit rate by less than this share is not passed on.
    private static let significance = 0.05

    /// - Parameter limits: The limits of the viewers who have one.
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

    /// Returns whether a limit differs enough from the one before to be passed on.
    static func isNews(_ limit: VideoLimit, after before: VideoLimit) -> Bool {
        guard limit.size == before.size, limit.frameRate == before.frameRate,
            let rate = limit.bitRate, let old = before.bitRate
        else { return limit != before }
        return abs(Double(rate - old)) > Double(old) * significance
    }
}
