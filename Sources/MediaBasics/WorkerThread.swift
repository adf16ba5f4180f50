internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Tells one thread from all others that run now. Never zero.
package func currentThread() -> UInt { UInt(pthread_self()) }

/// A thread of the process's own that serves one ``SerialQueue`` after another, and ends when none has
/// wanted it for a while.
final class WorkerThread: Sendable {
    private let wake = DispatchSemaphore(value: 0)
    private let task: Mutex<SerialQueue?>

    private static let idle = Mutex<[WorkerThread]>([])
    /// As long as Dispatch keeps its own.
    private static let patience = DispatchTimeInterval.seconds(5)

    private init(for queue: SerialQueue) { task = Mutex(queue) }

    /// Lets a thread drain the queue: one that is idle, else a new one.
    static func lend(to queue: SerialQueue) {
        if let worker = idle.withLock({ $0.popLast() }) {
            worker.task.withLock { $0 = queue }
            worker.wake.signal()
        } else if !WorkerThread(for: queue).start() {
            // No thread is to be had now; Dispatch waits for one of its own.
            DispatchQueue.global().async { queue.drain() }
        }
    }

    private func start() -> Bool {
        startThread("mediabridge") { self.run() }
    }

    private func run() {
        repeat { task.withLock { $0.take() }?.drain() } while isWanted()
    }

    /// Waits to be wanted.
    private func isWanted() -> Bool {
        Self.idle.withLock { $0.append(self) }
        if wake.wait(timeout: .now() + Self.patience) == .success { return true }
        let isLeft = Self.idle.withLock { idle in
            guard let place = idle.firstIndex(where: { $0 === self }) else { return false }
            idle.remove(at: place)
            return true
        }
        if isLeft { return false }
        // It was taken in the last moment.
        wake.wait()
        return true
    }
}

/// Starts a thread. Signals go to other threads, except those that say that its own code is wrong.
///
/// - Returns: False where the system gives none.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
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

/// For debuggers and `top -H`. At most fifteen characters count.
private func nameCurrentThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
}
