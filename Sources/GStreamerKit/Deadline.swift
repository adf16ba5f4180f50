internal import Dispatch

/// A moment at which something is given up, unless it is called off before. Calling it off frees what
/// it holds at once.
package final class Deadline: Sendable {
    /// Sendable: dispatch objects are thread-safe, and the reference never changes.
    private struct Timer: @unchecked Sendable {
        let source: any DispatchSourceTimer
    }
    private let timer: Timer

    /// - Parameter expire: Called once, on a thread of its own, unless ``cancel()`` came first.
    package init(after duration: Duration, expire: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .now() + duration.dispatchInterval)
        source.setEventHandler(handler: expire)
        timer = Timer(source: source)
        source.activate()
    }

    package func cancel() { timer.source.cancel() }

    deinit { timer.source.cancel() }
}
