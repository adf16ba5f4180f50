internal import Synchronization

/// Calls back once, unless it is called off before. Calling it off frees what it holds at once.
package final class OneShotTimer: Sendable {
    private let number: UInt64

    /// - Parameter expire: Called on a thread of its own.
    package init(after duration: Duration, expire: @escaping @Sendable () -> Void) {
        number = TimerThread.shared.schedule(in: duration.wholeNanoseconds) {
            SerialQueue(label: "mediabridge.deadline").async(expire)
        }
    }

    package func cancel() { TimerThread.shared.cancel(number) }

    deinit { cancel() }
}

/// Calls back again and again, until it is called off or let go of.
package final class Heartbeat: Sendable {
    private final class Beats: Sendable {
        let queue: SerialQueue
        let interval: UInt64
        let beat: @Sendable () -> Void
        /// The alarm of the next beat; `nil` after the last.
        let next = Mutex<UInt64?>(0)
        /// Put on the queue, and not done yet: a queue that is slow does not collect them.
        let isUnderway = Atomic<Bool>(false)

        init(_ queue: SerialQueue, _ interval: UInt64, _ beat: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.interval = interval
            self.beat = beat
        }

        var isOver: Bool { next.withLock { $0 == nil } }

        /// - Parameter due: On the monotonic clock, so that lateness does not add up.
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
            // What was missed altogether is not made up for.
            expect(at: max(due + interval, TimerThread.now))
        }

        func end() {
            let alarm = next.withLock { $0.take() }
            if let alarm { TimerThread.shared.cancel(alarm) }
        }
    }
    private let beats: Beats

    /// - Parameter beat: One call at a time, on `queue`. None begins after ``cancel()``, unless that is
    ///   called meanwhile.
    package init(
        every interval: Duration, on queue: SerialQueue, beat: @escaping @Sendable () -> Void
    ) {
        beats = Beats(queue, max(1_000_000, interval.wholeNanoseconds), beat)
        beats.expect(at: TimerThread.now + interval.wholeNanoseconds)
    }

    package func cancel() { beats.end() }

    deinit { cancel() }
}

extension Duration {
    /// Zero for what is negative; what does not fit is as much as fits in half.
    fileprivate var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard self > .zero else { return 0 }
        let most = UInt64.max / 2
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow || whole > most ? most : whole + UInt64(attoseconds / 1_000_000_000)
    }
}
