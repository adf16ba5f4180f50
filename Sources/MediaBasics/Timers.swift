internal import Synchronization

/// Calls a closure once, unless it is cancelled first. Cancelling frees what the closure holds at
/// once.
package final class OneShotTimer: Sendable {
    private let number: UInt64

    /// - Parameter expire: Called on a separate thread, after `duration`.
    package init(after duration: Duration, expire: @escaping @Sendable () -> Void) {
        number = TimerThread.shared.schedule(in: duration.wholeNanoseconds) {
            SerialQueue(label: "mediabridge.deadline").async(expire)
        }
    }

    package func cancel() { TimerThread.shared.cancel(number) }

    deinit { cancel() }
}

/// Calls a closure periodically, until it is cancelled or freed.
package final class Heartbeat: Sendable {
    private final class Beats: Sendable {
        let queue: SerialQueue
        let interval: UInt64
        let beat: @Sendable () -> Void
        /// Number of the next alarm; `nil` after cancellation.
        let next = Mutex<UInt64?>(0)
        /// Set while a call is queued or running: a slow queue does not accumulate calls.
        let isUnderway = Atomic<Bool>(false)

        init(_ queue: SerialQueue, _ interval: UInt64, _ beat: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.interval = interval
            self.beat = beat
        }

        var isOver: Bool { next.withLock { $0 == nil } }

        /// - Parameter due: Nanoseconds on the monotonic clock, so that delays do not accumulate.
        func expect(at due: UInt64) {
            next.withLock { next in
                guard next != nil else { return }
                let now = TimerThread.now
                next = TimerThread.shared.schedule(in: due > now ? due - now : 0) {
                    self.fire(due)
                }
            }
        }

        private func fire(_ due: UInt64) {
            if !isUnderway.exchange(true, ordering: .acquiringAndReleasing) {
                queue.async { [self] in
                    if !isOver { beat() }
                    isUnderway.store(false, ordering: .releasing)
                }
            }
            // Missed calls are not made up for.
            expect(at: max(due + interval, TimerThread.now))
        }

        func end() {
            let alarm = next.withLock { $0.take() }
            if let alarm { TimerThread.shared.cancel(alarm) }
        }
    }
    private let beats: Beats

    /// - Parameters:
    ///   - interval: Time between calls; at least 1 ms.
    ///   - queue: The queue on which `beat` is called.
    ///   - beat: Called repeatedly, one call at a time. No call begins after ``cancel()``, except
    ///     one that is just being started on another thread.
    package init(
        every interval: Duration, on queue: SerialQueue, beat: @escaping @Sendable () -> Void
    ) {
        beats = Beats(queue, max(1_000_000, interval.wholeNanoseconds), beat)
        beats.expect(at: TimerThread.now + interval.wholeNanoseconds)
    }

    package func cancel() { beats.end() }

    deinit { cancel() }
}

extension SerialQueue {
    /// Enqueues `body` after `delay`. It cannot be cancelled: what it holds lives until then.
    package func async(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = TimerThread.shared.schedule(in: delay.wholeNanoseconds) { [self] in async(body) }
    }
}

extension Duration {
    /// The duration in nanoseconds; zero if it is negative, limited to half of the maximum of
    /// UInt64.
    fileprivate var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard self > .zero else { return 0 }
        let most = UInt64.max / 2
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow || whole > most ? most : whole + UInt64(attoseconds / 1_000_000_000)
    }
}
