import Glibc
import UnixSignals

/// Ctrl-C and SIGTERM: the first asks for a good end, the second gives up at once.
struct Interruption {
    private let task: Task<Void, Never>

    /// Programs that run others (`timeout`, a shell at Ctrl-C) send a signal to the process and to its
    /// group: what comes within this time of the first is the first, heard twice.
    private static let echo = Duration.milliseconds(100)

    /// Runs `body` meanwhile. Nothing holds `onFirst`, or what it holds, when this returns.
    static func during<R>(
        _ onFirst: @escaping @Sendable () -> Void, _ body: () async throws -> R
    ) async rethrows -> R {
        let interruption = Interruption(onFirst: onFirst)
        do {
            let result = try await body()
            await interruption.end()
            return result
        } catch {
            await interruption.end()
            throw error
        }
    }

    private init(onFirst: @escaping @Sendable () -> Void) {
        task = Task {
            var first: ContinuousClock.Instant?
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
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
        // What is left to be done is of no use to who does not want to wait for it.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
