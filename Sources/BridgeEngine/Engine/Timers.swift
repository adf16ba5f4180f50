package import Dispatch

/// Calls back once, unless it is called off before.
final class OneShotTimer: Sendable {
    /// Sendable: dispatch objects are thread-safe, and the reference never changes.
    private struct Timer: @unchecked Sendable {
        let source: any DispatchSourceTimer
    }
    private let timer: Timer
    /// Of its own, so that a pool full of blocked threads delays no deadline.
    private static let queue = DispatchQueue(label: "mediabridge.deadlines")

    init(after duration: Duration, expire: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: Self.queue)
        source.schedule(deadline: .now() + duration.timeInterval)
        source.setEventHandler(handler: expire)
        timer = Timer(source: source)
        source.activate()
    }

    func cancel() { timer.source.cancel() }

    deinit { timer.source.cancel() }
}

/// Calls back again and again, until it is called off or let go of.
package final class Heartbeat: Sendable {
    /// Sendable: dispatch objects are thread-safe, and the reference never changes.
    private struct Timer: @unchecked Sendable {
        let source: any DispatchSourceTimer
    }
    private let timer: Timer

    /// - Parameter beat: One call at a time, on `queue`.
    package init(
        every interval: Duration, on queue: DispatchQueue, beat: @escaping @Sendable () -> Void
    ) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + interval.timeInterval, repeating: interval.timeInterval)
        source.setEventHandler(handler: beat)
        timer = Timer(source: source)
        source.activate()
    }

    package func cancel() { timer.source.cancel() }

    deinit { timer.source.cancel() }
}
