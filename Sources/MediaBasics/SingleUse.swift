internal import Synchronization

/// A closure that runs once and is freed, with everything that it captures, before ``perform()``
/// returns: code that is notified afterwards can rely on the executing thread holding none of it.
/// Thread: any.
package final class SingleUse<R: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () -> R)?>

    package init(_ body: @escaping @Sendable () -> R) { self.body = Mutex(body) }

    /// Runs the closure, if it has not run yet.
    ///
    /// - Returns: `nil` if it has already run.
    package func perform() -> R? { body.withLock { $0.take() }?() }
}
