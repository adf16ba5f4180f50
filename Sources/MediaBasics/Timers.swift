package import Dispatch
internal import Synchronization

/// Calls a closure once, unless it is cancelled first. Cancelling frees what the closure holds at
/// once.
package final class OneShotTimer: Sendable {
    private let timeline: any Timeline
    private let number: UInt64

    /// - Parameter expire: Called on a separate thread, after `duration`.
    package init(
        after duration: Duration, on timeline: any Timeline = .system,
        expire: @escaping @Sendable () -> Void
    ) {
        self.timeline = timeline
        number = timeline.schedule(
            after: duration, on: SerialQueue(label: "mediabridge.deadline"), expire)
    }

    package func cancel() { timeline.cancel(number) }

    deinit { cancel() }
}

/// Calls a closure periodically, until it is cancelled or freed.
package final class Heartbeat: Sendable {
    private final class Beats: Sendable {
        let timeline: any Timeline
        let queue: SerialQueue
        let interval: Duration
        let beat: @Sendable () -> Void
        /// Number of the next alarm; `nil` after cancellation.
        let next = Mutex<UInt64?>(0)

        init(
            _ timeline: any Timeline, _ queue: SerialQueue, _ interval: Duration,
            _ beat: @escaping @Sendable () -> Void
        ) {
            (self.timeline, self.queue) = (timeline, queue)
            (self.interval, self.beat) = (interval, beat)
        }

        /// - Parameter due: A time of the timeline, so that delays do not accumulate.
        func expect(at due: Duration) {
            next.withLock { next in
                guard next != nil else { return }
                next = timeline.schedule(after: due - timeline.now, on: queue) { [self] in
                    if !isOver { beat() }
                    // A slow queue does not accumulate calls, and missed ones are not made up for.
                    expect(at: max(due + interval, timeline.now))
                }
            }
        }

        private var isOver: Bool { next.withLock { $0 == nil } }

        func end() {
            let alarm = next.withLock { $0.take() }
            if let alarm { timeline.cancel(alarm) }
        }
    }
    private let beats: Beats

    /// - Parameters:
    ///   - interval: Time between calls; at least 1 ms.
    ///   - queue: The queue on which `beat` is called.
    ///   - beat: Called repeatedly, one call at a time. No call begins after ``cancel()``, except
    ///     one that is just being started on another thread.
    package init(
        every interval: Duration, on queue: SerialQueue, of timeline: any Timeline = .system,
        beat: @escaping @Sendable () -> Void
    ) {
        let interval = max(.milliseconds(1), interval)
        beats = Beats(timeline, queue, interval, beat)
        beats.expect(at: timeline.now + interval)
    }

    package func cancel() { beats.end() }

    deinit { cancel() }
}

extension Duration {
    /// The duration for Dispatch's clocks; `.never` if it does not fit.
    package var dispatchInterval: DispatchTimeInterval {
        let nanoseconds = wholeNanoseconds
        return nanoseconds == .max ? .never : .nanoseconds(Int(nanoseconds))
    }
}

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
