internal import MediaCore

/// How far a source's clock has run away from the engine's.
///
/// How late sound comes varies with the load; how late the most punctual of a second comes is the clock.
struct ClockDrift {
    /// How late the most punctual came at the beginning; `nil` before that is known.
    private var reference: MediaTime?
    private var since: MediaTime?
    private var least = MediaTime.zero
    private var count = 0

    private static let window = MediaTime(seconds: 1)
    /// Fewer frames say more of the load than of the clock, unless they take longer.
    private static let leastFrames = 8
    private static let longestWindow = MediaTime(seconds: 8)

    /// Looks at one frame.
    ///
    /// - Parameters:
    ///   - lateness: How long after its time it came.
    ///   - ahead: By how much less than at the beginning is no drift yet.
    ///   - behind: By how much more.
    ///   - usual: What is usual, at least; `nil` where nothing is known of that.
    /// - Returns: What to add to times from here on.
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
        // Nothing comes before it was taken.
        return .zero - least > ahead ? least : .zero
    }
}
