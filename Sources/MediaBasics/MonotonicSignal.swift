internal import Glibc

/// Wakes one thread that waits until a time on the monotonic clock, so that setting the system
/// clock has no effect. A semaphore of Dispatch has its limit on the system clock: if that is set
/// back an hour meanwhile, it waits an hour longer, and if it is set forward, not at all.
package final class MonotonicSignal: @unchecked Sendable {  // all state is behind the mutex
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isSignalled = false
    /// Whether the present wait on another timeline than the system's is over.
    private var isOver = false

    package init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        HandOver.begin(condition)
    }

    deinit {
        HandOver.end(condition)
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Ends the present wait, or else the next one.
    package func signal() {
        HandOver.end(condition)
        pthread_mutex_lock(mutex)
        isSignalled = true
        pthread_mutex_unlock(mutex)
        // After the unlock: a thread that wakes up while the mutex is locked sleeps again at once.
        pthread_cond_signal(condition)
        HandOver.begin(condition)
    }

    /// Waits for a signal.
    ///
    /// - Parameter moment: Nanoseconds on the monotonic clock at which the wait ends; `nil` for no
    ///   limit.
    /// - Returns: False if the time has come first.
    @discardableResult func wait(until moment: UInt64?) -> Bool {
        var time = timespec()
        if let moment {
            time.tv_sec = Int(moment / 1_000_000_000)
            time.tv_nsec = Int(moment % 1_000_000_000)
        }
        HandOver.end(condition)
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            HandOver.begin(condition)
        }
        while !isSignalled {
            if moment == nil {
                pthread_cond_wait(condition, mutex)
            } else if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT {
                return false
            }
        }
        isSignalled = false
        return true
    }

    /// Waits for a signal.
    ///
    /// - Returns: False if there was none for so long.
    @discardableResult
    package func wait(for limit: Duration, on timeline: any Timeline = .system) -> Bool {
        if timeline === TimerThread.system || limit <= .zero {
            return wait(until: TimerThread.moment(in: limit))
        }
        let timer = OneShotTimer(after: limit, on: timeline) { [self] in
            pthread_mutex_lock(mutex)
            isOver = true
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(condition)
        }
        defer { timer.cancel() }
        HandOver.end(condition)
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            HandOver.begin(condition)
        }
        while !isSignalled, !isOver { pthread_cond_wait(condition, mutex) }
        defer { (isSignalled, isOver) = (false, false) }
        return isSignalled
    }

    /// Waits for a signal without a limit.
    package func wait() { wait(until: nil) }
}
