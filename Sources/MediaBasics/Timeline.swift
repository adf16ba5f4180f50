/// A clock with alarms: the system's, or one that a test moves forward. Thread: any.
package protocol Timeline: AnyObject, Sendable {
    /// The time since an arbitrary moment; it never goes back.
    var now: Duration { get }

    /// Enqueues `body` on `queue` after `delay`.
    ///
    /// - Returns: The number to pass to ``cancel(_:)``.
    func schedule(
        after delay: Duration, on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) -> UInt64

    /// Cancels an alarm and frees what its closure holds. Has no effect after the alarm.
    func cancel(_ number: UInt64)
}
