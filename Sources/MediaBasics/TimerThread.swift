internal import Glibc
internal import Synchronization

/// The system's monotonic clock, with a thread that waits for all timers of the process, so that no
/// other work delays a deadline. Thread: any.
package final class TimerThread: Timeline {
    fileprivate static let shared = TimerThread()

    private struct Alarm {
        let due: UInt64
        let number: UInt64
    }
    private struct State {
        /// Sorted, the latest first; cancelled alarms are still included.
        var alarms: [Alarm] = []
        var bodies: [UInt64: (queue: SerialQueue, body: @Sendable () -> Void)] = [:]
        var number: UInt64 = 0
        var isRunning = false

        /// Returns the earliest alarm that is not cancelled, and removes cancelled ones on the way.
        mutating func first() -> Alarm? {
            while let alarm = alarms.last {
                if bodies[alarm.number] != nil { return alarm }
                alarms.removeLast()
            }
            return nil
        }

        mutating func insert(_ alarm: Alarm) {
            // Most alarms are cancelled before they are due, and would otherwise stay until a
            // distant time.
            if alarms.count > 64, alarms.count > bodies.count * 2 {
                alarms.removeAll { bodies[$0.number] == nil }
            }
            var (low, high) = (0, alarms.count)
            while low < high {
                let middle = (low + high) / 2
                if alarms[middle].due > alarm.due { low = middle + 1 } else { high = middle }
            }
            alarms.insert(alarm, at: low)
        }
    }
    private let state = Mutex(State())
    private let wake = MonotonicSignal()

    package var now: Duration { .nanoseconds(Self.nanoseconds) }

    package func schedule(
        after delay: Duration, on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) -> UInt64 {
        let due = Self.moment(in: delay)
        let (number, isFirst, needsThread) = state.withLock { state in
            state.number += 1
            let number = state.number
            let isFirst = state.first().map { due < $0.due } ?? true
            state.bodies[number] = (queue, body)
            state.insert(Alarm(due: due, number: number))
            defer { state.isRunning = true }
            return (number, isFirst, !state.isRunning)
        }
        if needsThread, !startThread("mediabridge.tmr", { self.run() }) {
            // The next call tries again.
            state.withLock { $0.isRunning = false }
        }
        if isFirst { wake.signal() }
        return number
    }

    package func cancel(_ number: UInt64) {
        // What the closure holds is released outside of the lock.
        _ = state.withLock { $0.bodies.removeValue(forKey: number) }
    }

    private func run() -> Never {
        while true {
            while let (queue, body) = nextDue() { queue.async(body) }
            wake.wait(until: state.withLock { $0.first()?.due })
        }
    }

    private func nextDue() -> (SerialQueue, @Sendable () -> Void)? {
        state.withLock { state in
            guard let alarm = state.first(), alarm.due <= Self.nanoseconds else { return nil }
            state.alarms.removeLast()
            return state.bodies.removeValue(forKey: alarm.number)
        }
    }

    private static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Returns the time after `delay`, in nanoseconds on the monotonic clock, limited to centuries.
    static func moment(in delay: Duration) -> UInt64 {
        nanoseconds + UInt64(min(max(.zero, delay), .seconds(8_000_000_000)).wholeNanoseconds)
    }
}

extension Timeline where Self == TimerThread {
    package static var system: TimerThread { .shared }
}
