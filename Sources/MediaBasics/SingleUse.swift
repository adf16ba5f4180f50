internal import Synchronization

/// Work that is done once, and is freed, with all that it holds, before ``perform()`` returns: whoever is
/// told next finds nothing held any more by the thread that did it. Thread: any.
package final class SingleUse<R: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () -> R)?>

    package init(_ body: @escaping @Sendable () -> R) { self.body = Mutex(body) }

    /// - Returns: `nil` where it has been done already.
    package func perform() -> R? { body.withLock { $0.take() }?() }
}
