internal import Dispatch
internal import Glibc
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
        for await _ in arrivals {}
        trap.release()
    }

    var numbers: [Int32] {
        (contains(.interrupt) ? [SIGINT] : []) + (contains(.terminate) ? [SIGTERM] : [])
    }
}

/// Catches the first of a set of signals and replaces its default action until then. Thread: any.
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

    /// - Parameter body: Called at the first signal, on a queue that all traps share.
    init(_ signals: StopSignals, body: @escaping @Sendable () -> Void) {
        numbers = signals.numbers
        let sources = numbers.map { number in
            Self.traps.withLock { traps in
                traps[number, default: 0] += 1
                // Dispatch reports a signal only if its default action is disabled.
                if traps[number] == 1 { signal(number, SIG_IGN) }
            }
            return Source(
                signal: DispatchSource.makeSignalSource(signal: number, queue: Self.queue))
        }
        self.sources.withLock { $0 = sources }
        for source in sources {
            source.signal.setEventHandler { [weak self] in
                // From here on the next signal ends the process.
                self?.release()
                body()
            }
            source.signal.resume()
        }
    }

    deinit { release() }

    /// Restores the default action of the signals. A second call does nothing.
    func release() {
        let sources = self.sources.withLock { sources in
            defer { sources = [] }
            return sources
        }
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
