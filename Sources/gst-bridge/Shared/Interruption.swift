import Glibc
import UnixSignals

/// Handles Ctrl-C and SIGTERM: the first signal requests an orderly end, the second exits at once.
struct Interruption {
    private let task: Task<Void, Never>

    /// Programs that start others (`timeout`, a shell at Ctrl-C) send a signal to the process and
    /// to its group. A signal within this time of the first is treated as the same signal.
    private static let echo = Duration.milliseconds(100)

    /// Runs `body` and calls `onFirst` at the first signal. `onFirst` and its captures are released
    /// before this returns.
    static func during<R>(
        _ onFirst: @escaping @Sendable () -> Void, _ body: () async throws -> R
    ) async rethrows -> R {
        let interruption = await Interruption(onFirst: onFirst)
        do {
            let result = try await body()
            await interruption.end()
            return result
        } catch {
            await interruption.end()
            throw error
        }
    }

    /// Returns once signals are caught.
    private init(onFirst: @escaping @Sendable () -> Void) async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        task = Task {
            var first: ContinuousClock.Instant?
            for await _ in signals {
                if let first {
                    if ContinuousClock.now - first > Self.echo { _exit(130) }
                    continue
                }
                first = .now
                Terminal.write("\n")
                Terminal.say("finishing; once more to give up at once")
                onFirst()
            }
        }
    }

    private func end() async {
        task.cancel()
        await task.value
        // A signal from here on ends the process: the user does not want to wait for the remaining
        // work.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
