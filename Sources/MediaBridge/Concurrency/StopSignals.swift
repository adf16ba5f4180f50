internal import Dispatch
internal import Glibc
internal import MediaBasics
internal import Synchronization

/// Signals that ask a process to end: Ctrl-C, and the one that `kill` and service managers send.
///
/// ```swift
/// try await engine.startPreview()
/// await StopSignals.interrupt.wait()  // until Ctrl-C
/// await engine.shutDown()  // files are completed
/// ```
public struct StopSignals: OptionSet, Hashable, Sendable {
    /// The set as a bit mask.
    public let rawValue: Int

    /// Creates a set from its bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// SIGINT: Ctrl-C.
    public static let interrupt = StopSignals(rawValue: 1)
    /// SIGTERM.
    public static let terminate = StopSignals(rawValue: 2)

    /// Returns at the first of these signals, or when the task is cancelled. Between the call and
    /// the return, the first signal does not end the process; a second one does.
    public func wait() async {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        let trap = SignalTrap(self) { continuation.finish() }
        await trap.untilSet()
        for await _ in arrivals {}
        trap.release()
    }

    var numbers: [Int32] {
        (contains(.interrupt) ? [SIGINT] : []) + (contains(.terminate) ? [SIGTERM] : [])
    }
}

/// Catches the first of a set of signals and replaces its default action until then, from
/// ``untilSet()`` on. Thread: any.
final class SignalTrap: Sendable {
    private static let queue = DispatchQueue(label: "mediabridge.signals")
    /// Number of traps per signal. The default action is restored when the last trap is released.
    private static let traps = Mutex<[Int32: Int]>([:])

    private let numbers: [Int32]
    /// Unchecked: Dispatch sources may be used from any thread.
    private struct Source: @unchecked Sendable {
        let signal: any DispatchSourceSignal
    }
    private let sources = Mutex<[Source]>([])
    private let missing: Atomic<Int>
    private let set = Latch()

    /// - Parameter body: Called at the first signal, on a queue that all traps share.
    init(_ signals: StopSignals, body: @escaping @Sendable () -> Void) {
        numbers = signals.numbers
        missing = Atomic(numbers.count)
        if numbers.isEmpty { set.open() }
        let sources = numbers.map { number in
            Self.traps.withLock { $0[number, default: 0] += 1 }
            return Source(
                signal: DispatchSource.makeSignalSource(signal: number, queue: Self.queue))
        }
        self.sources.withLock { $0 = sources }
        for source in sources {
            // Dispatch replaces the default action on one of its threads, some time after the
            // source was resumed.
            source.signal.setRegistrationHandler { [weak self] in self?.wasRegistered() }
            source.signal.setEventHandler { [weak self] in
                // From here on the next signal ends the process.
                self?.release()
                body()
            }
            source.signal.resume()
        }
    }

    deinit { release() }

    private func wasRegistered() {
        let left = missing.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0 { set.open() }
    }

    /// Suspends until the trap is set: a signal before that has its default action.
    func untilSet() async { _ = await set.wait(for: .seconds(5).asDefaultDeadline) }

    /// Restores the default action of the signals. A second call does nothing.
    func release() {
        let sources = self.sources.exchange([])
        guard !sources.isEmpty else { return }
        sources.forEach { $0.signal.cancel() }
        for number in numbers {
            Self.traps.withLock { traps in
                traps[number, default: 0] -= 1
                if traps[number] == 0 { signal(number, SIG_DFL) }
            }
        }
    }
}
