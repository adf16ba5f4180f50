import Glibc
import UnixSignals

/// Ctrl-C and SIGTERM: the first asks for a good end, the second gives up at once.
struct Interruption {
    private let task: Task<Void, Never>

    init(onFirst: @escaping @Sendable () -> Void) {
        task = Task {
            var isSecond = false
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                if isSecond { _exit(130) }
                isSecond = true
                Terminal.write("\n")
                Terminal.say("finishing; once more to give up at once")
                onFirst()
            }
        }
    }

    func end() { task.cancel() }
}
