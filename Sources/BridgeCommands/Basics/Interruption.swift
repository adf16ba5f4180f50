internal import Glibc
internal import UnixSignals

/// Handles Ctrl-C, SIGTERM and SIGHUP: the first signal requests an orderly end, a second Ctrl-C or
/// SIGTERM exits at once. A SIGHUP never exits at once, because a terminal that closes sends several,
/// and it stays ignored if it was when the process began (`nohup`).
package struct Interruption {
    private let task: Task<Void, Never>
    private let trapped: [UnixSignal]

    /// Programs that start others (`timeout`, a shell at Ctrl-C) send a signal to the process and
    /// to its group. A signal within this time of the first is treated as the same signal.
    private static let echo = Duration.milliseconds(100)

    /// Runs `body` and calls `onFirst` at the first signal. `onFirst` and its captures are released
    /// before this returns.
    package static func during<R>(
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

    /// Waits for a task, which the first signal cancels.
    static func value<R>(of task: Task<R, any Error>) async throws -> R {
        try await during {
            task.cancel()
        } _: {
            try await task.value
        }
    }

    /// Returns once signals are caught.
    private init(onFirst: @escaping @Sendable () -> Void) async {
        var hangUp = sigaction()
        sigaction(SIGHUP, nil, &hangUp)
        let isIgnored = unsafeBitCast(hangUp.__sigaction_handler.sa_handler, to: Int.self) == 1
        trapped = [.sigint, .sigterm] + (isIgnored ? [] : [.sighup])
        let signals = await UnixSignalsSequence(trapping: trapped)
        task = Task {
            var (isFinishing, first) = (false, ContinuousClock.Instant?.none)
            for await signal in signals {
                if signal != .sighup {
                    if let first, ContinuousClock.now - first > Self.echo { _exit(130) }
                    first = first ?? .now
                }
                guard !isFinishing else { continue }
                isFinishing = true
                Terminal.write("\n")
                Terminal.log("finishing; interrupt again to exit at once")
                onFirst()
            }
        }
    }

    private func end() async {
        task.cancel()
        await task.value
        // A signal from here on ends the process: the user does not want to wait for the remaining
        // work.
        for signal in trapped { Glibc.signal(signal.rawValue, SIG_DFL) }
    }
}
