internal import MediaBasics

/// Waits for a pipeline to finish, as long as it makes progress.
struct ProgressWait {
    /// Limits of a wait.
    struct Limits {
        /// The longest time without progress.
        var standing: Duration
        /// The longest time in total; `nil` for no limit.
        var inAll: Duration?

        /// Limits after an error: data still inside the pipeline may be saved, but the wait is
        /// short. Also used if nothing seems to be left inside.
        static let afterError = Limits(
            standing: .seconds(1).asDefaultDeadline, inAll: .seconds(3).asDefaultDeadline)
    }

    /// Opened when the work is probably done.
    let signal: Latch

    /// Interval between two checks for progress.
    private static let glance = Duration.milliseconds(50)

    /// Suspends until the work is done.
    ///
    /// - Parameters:
    ///   - isDone: Whether the work is done.
    ///   - movement: A counter that changes with every step of progress.
    ///   - limits: The limits; read at every check.
    /// - Returns: False if a limit was reached first.
    func wait(
        until isDone: @Sendable () -> Bool, movement: @Sendable () -> Int,
        limits: @Sendable () -> Limits
    ) async -> Bool {
        let start = ContinuousClock.now
        var (moved, since) = (movement(), start)
        while !isDone() {
            if await signal.wait(for: Self.glance) { signal.reset() }
            let (now, count, limits) = (ContinuousClock.now, movement(), limits())
            if count != moved { (moved, since) = (count, now) }
            let isOver = limits.inAll.map { now - start >= $0 } ?? false
            if isOver || now - since >= limits.standing { return isDone() }
        }
        return true
    }
}
