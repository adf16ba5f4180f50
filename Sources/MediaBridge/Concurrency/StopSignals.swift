internal import Dispatch
internal import Glibc
internal import Synchronization

/// Signals that ask a process to end: Ctrl-C, and what `kill` and service managers send.
///
/// ```swift
/// try await engine.startPreview()
/// await StopSignals.interrupt.wait()  // until Ctrl-C
/// await engine.shutDown()  // files are completed
/// ```
public struct StopSignals: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// SIGINT: Ctrl-C.
    public static let interrupt = StopSignals(rawValue: 1)
    /// SIGTERM.
    public static let terminate = StopSignals(rawValue: 2)

    /// Returns at the first of these signals, or when the task is cancelled. From the call to the return a
    /// signal does not end the process; a second one does.
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

/// Hears of signals once, in place of what they do otherwise. Thread: any.
final class SignalTrap: Sendable {
    private static let queue = DispatchQueue(label: "mediabridge.signals")
    /// How many traps there are for each signal: what it did before comes back with the last.
    private static let traps = Mutex<[Int32: Int]>([:])

    private let numbers: [Int32]
    /// Unchecked: Dispatch's sources are for any thread.
    private struct Source: @unchecked Sendable {
        let signal: any DispatchSourceSignal
    }
    private let sources = Mutex<[Source]>([])

    /// - Parameter body: Called at the first signal, on a queue of the traps' own.
    init(_ signals: StopSignals, body: @escaping @Sendable () -> Void) {
        numbers = signals.numbers
        let sources = numbers.map { number in
            Self.traps.withLock { traps in
                traps[number, default: 0] += 1
                // Dispatch hears of a signal only where it does nothing by itself.
                if traps[number] == 1 { signal(number, SIG_IGN) }
            }
            return Source(
                signal: DispatchSource.makeSignalSource(signal: number, queue: Self.queue))
        }
        self.sources.withLock { $0 = sources }
        for source in sources {
            source.signal.setEventHandler { [weak self] in
                // The next one ends the process.
                self?.release()
                body()
            }
            source.signal.resume()
        }
    }

    deinit { release() }

    /// Signals do what they did before. A second call does nothing.
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
