internal import MediaCore

/// Measures how far a source's clock has drifted from the engine's.
///
/// The lateness of single frames varies with the load; the lateness of the most punctual frame
/// within a second shows the clock.
struct ClockDrift {
    /// The lateness of the most punctual frame at the beginning; `nil` before it is known.
    private var reference: MediaTime?
    private var since: MediaTime?
    private var least = MediaTime.zero
    private var count = 0

    private static let window = MediaTime(seconds: 1)
    /// With fewer frames the result reflects the load more than the clock, unless they span a
    /// longer time.
    private static let leastFrames = 8
    private static let longestWindow = MediaTime(seconds: 8)

    /// Measures one frame.
    ///
    /// - Parameters:
    ///   - lateness: The time between the frame's timestamp and its arrival.
    ///   - ahead: How much smaller than at the beginning the lateness may be without counting as
    ///     drift.
    ///   - behind: How much larger it may be.
    ///   - usual: The minimum lateness to expect; `nil` if it is not known.
    /// - Returns: The value to add to the timestamps from now on.
    mutating func correction(
        _ lateness: MediaTime, at now: MediaTime, ahead: MediaTime, behind: MediaTime,
        usual: MediaTime? = nil
    ) -> MediaTime {
        least = count == 0 ? lateness : min(least, lateness)
        count += 1
        let began = since ?? now
        since = began
        guard now - began >= Self.window,
            count >= Self.leastFrames || now - began >= Self.longestWindow
        else { return .zero }
        let least = self.least
        (since, count) = (nil, 0)
        guard let usual else {
            let drift = least - (reference ?? least)
            reference = reference ?? least
            return drift > behind || .zero - drift > ahead ? drift : .zero
        }
        let known = reference ?? max(.zero, least)
        reference = known
        let most = max(known, usual) + behind
        if least > most { return least - most }
        // A frame cannot arrive before it was captured.
        return .zero - least > ahead ? least : .zero
    }
}
