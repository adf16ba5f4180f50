/// When a source that failed is started again.
public struct RestartPolicy: Hashable, Sendable {
    /// The delay before the first attempt; doubled after each failure. Default 0.5 s.
    public var delay = Duration.milliseconds(500)
    /// The maximum delay between attempts. Default 30 s.
    public var longestDelay = Duration.seconds(30)
    /// The maximum number of consecutive attempts; `nil`, the default, for no limit.
    public var attempts: Int?
    /// How long a source must deliver until it counts as recovered and its attempts are counted
    /// from the first again. Default 10 s.
    public var recoveryTime = Duration.seconds(10)

    /// Creates a policy with the default values.
    public init() {}

    /// Returns the delay before the next attempt; `nil` if there is to be none.
    ///
    /// - Parameter failures: The number of consecutive attempts that have failed.
    package func delay(after failures: Int) -> Duration? {
        guard attempts.map({ failures < $0 }) ?? true else { return nil }
        return min(delay * (1 << min(failures, 20)), longestDelay)
    }
}
