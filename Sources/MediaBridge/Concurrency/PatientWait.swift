/// Waits for the end of a pipeline, for as long as something moves in it.
struct PatientWait {
    /// How long it may take.
    struct Patience {
        /// Without anything that moves.
        var standing: Duration
        /// From the beginning; `nil`: without limit.
        var inAll: Duration?

        /// After an error what is still inside may yet be saved, but not for long. Also where nothing seems to
        /// be inside.
        static let afterError = Patience(
            standing: .seconds(1).asDefaultDeadline, inAll: .seconds(3).asDefaultDeadline)
    }

    /// Opened when the work is likely to be done.
    let news: Latch

    /// How often it is looked whether anything moves.
    private static let glance = Duration.milliseconds(50)

    /// Suspends until the work is done.
    ///
    /// - Parameters:
    ///   - movement: Changes with everything that is done.
    ///   - patience: Asked at every glance.
    /// - Returns: False where the patience is at its end before.
    func wait(
        until isDone: @Sendable () -> Bool, movement: @Sendable () -> Int,
        patience: @Sendable () -> Patience
    ) async -> Bool {
        let start = ContinuousClock.now
        var (moved, since) = (movement(), start)
        while !isDone() {
            if await news.wait(for: Self.glance) { news.reset() }
            let (now, count, patience) = (ContinuousClock.now, movement(), patience())
            if count != moved { (moved, since) = (count, now) }
            let isOver = patience.inAll.map { now - start >= $0 } ?? false
            if isOver || now - since >= patience.standing { return isDone() }
        }
        return true
    }
}
