import Glibc
import UnixSignals

/// Ctrl-C and SIGTERM: the first asks for a good end, the second gives up at once.
struct Interruption {
    private let task: Task<Void, Never>

    /// Programs that run others (`timeout`, a shell at Ctrl-C) send a signal to the process and to its
    /// group: what comes within this time of the first is the first, heard twice.
    private static let echo = Duration.milliseconds(100)

    init(onFirst: @escaping @Sendable () -> Void) {
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

    func end() { task.cancel() }
}
