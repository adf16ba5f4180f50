internal import Dispatch
internal import Glibc
internal import Synchronization

/// Returns an identifier of the calling thread that is unique among the running threads. Never
/// zero.
package func currentThread() -> UInt { UInt(pthread_self()) }

/// A pool thread of this process that serves one ``SerialQueue`` after another, and ends after it
/// has been idle for a while.
final class WorkerThread: Sendable {
    private let wake = MonotonicSignal()
    private let task: Mutex<SerialQueue?>

    private static let idle = Mutex<[WorkerThread]>([])
    /// Idle time after which a thread ends; the same as Dispatch's.
    private static let idleTimeout = Duration.seconds(5)

    private init(for queue: SerialQueue) { task = Mutex(queue) }

    /// Drains the queue on an idle thread or, if there is none, on a new one.
    static func lend(to queue: SerialQueue) {
        if let worker = idle.withLock({ $0.popLast() }) {
            worker.task.withLock { $0 = queue }
            worker.wake.signal()
        } else if !WorkerThread(for: queue).start() {
            // No thread can be created now; Dispatch waits until it has one.
            DispatchQueue.global().async { queue.drain() }
        }
    }

    private func start() -> Bool {
        startThread("mediabridge") { self.run() }
    }

    private func run() {
        repeat { task.withLock { $0.take() }?.drain() } while isWanted()
    }

    /// Waits as an idle thread. Returns whether there is work; false ends the thread.
    private func isWanted() -> Bool {
        Self.idle.withLock { $0.append(self) }
        if wake.wait(for: Self.idleTimeout) { return true }
        let isLeft = Self.idle.withLock { idle in
            guard let place = idle.firstIndex(where: { $0 === self }) else { return false }
            idle.remove(at: place)
            return true
        }
        if isLeft { return false }
        // Another thread has just taken this one from the idle list, and is about to signal it.
        wake.wait()
        return true
    }
}

/// Starts a detached thread. It blocks all signals except fault signals of its code, such as
/// `SIGSEGV`.
///
/// - Returns: False if the system cannot create a thread.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    final class Body: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var (blocked, before) = (sigset_t(), sigset_t())
    sigfillset(&blocked)
    for signal in [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS] {
        sigdelset(&blocked, signal)
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = Unmanaged.passRetained(
        Body {
            nameCurrentThread(name)
            body()
        })
    var thread = pthread_t()
    let result = pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            Unmanaged<Body>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }, context.toOpaque())
    guard result == 0 else {
        context.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// Sets the thread's name for debuggers and `top -H`, which show at most fifteen characters.
private func nameCurrentThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
}
