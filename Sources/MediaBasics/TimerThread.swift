internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The one thread that waits for all moments of the process: no other work delays a deadline.
///
/// What is due is run by other threads. Thread: any.
final class TimerThread: Sendable {
    static let shared = TimerThread()

    private struct Alarm {
        let due: UInt64
        let number: UInt64
    }
    private struct State {
        /// The latest first; those that were called off are still there.
        var alarms: [Alarm] = []
        var bodies: [UInt64: @Sendable () -> Void] = [:]
        var number: UInt64 = 0
        var isRunning = false

        /// The alarm that is due first, of those that count.
        mutating func first() -> Alarm? {
            while let alarm = alarms.last {
                if bodies[alarm.number] != nil { return alarm }
                alarms.removeLast()
            }
            return nil
        }

        mutating func insert(_ alarm: Alarm) {
            // Most are called off before they are due, and would stay for as long as those are far away.
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

    /// Runs `body` once, when so many nanoseconds have passed.
    ///
    /// - Returns: By which it is called off.
    func schedule(in nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> UInt64 {
        let (sum, overflow) = Self.now.addingReportingOverflow(nanoseconds)
        let due = overflow ? .max : sum
        let (number, isFirst, needsThread) = state.withLock { state in
            state.number += 1
            let number = state.number
            let isFirst = state.first().map { due < $0.due } ?? true
            state.bodies[number] = body
            state.insert(Alarm(due: due, number: number))
            defer { state.isRunning = true }
            return (number, isFirst, !state.isRunning)
        }
        if needsThread, !startThread("mediabridge.tmr", { self.run() }) {
            // The next one tries again.
            state.withLock { $0.isRunning = false }
        }
        if isFirst { wake.signal() }
        return number
    }

    func cancel(_ number: UInt64) {
        // What it holds is let go of outside of the lock.
        _ = state.withLock { $0.bodies.removeValue(forKey: number) }
    }

    private func run() -> Never {
        while true {
            while let body = nextDue() { body() }
            wake.wait(until: state.withLock { $0.first()?.due })
        }
    }

    private func nextDue() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let alarm = state.first(), alarm.due <= Self.now else { return nil }
            state.alarms.removeLast()
            return state.bodies.removeValue(forKey: alarm.number)
        }
    }

    /// Nanoseconds of the monotonic clock.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Wakes one thread, which waits until a moment of the monotonic clock: a clock that is set does not move
/// it.
private final class MonotonicSignal: @unchecked Sendable {  // all state is behind the mutex
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isSignalled = false

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func signal() {
        pthread_mutex_lock(mutex)
        isSignalled = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// - Parameter moment: `nil` for none.
    func wait(until moment: UInt64?) {
        var time = timespec()
        if let moment {
            time.tv_sec = Int(moment / 1_000_000_000)
            time.tv_nsec = Int(moment % 1_000_000_000)
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isSignalled {
            if moment == nil {
                pthread_cond_wait(condition, mutex)
            } else if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT {
                break
            }
        }
        isSignalled = false
    }
}
