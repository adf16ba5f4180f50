internal import Glibc
internal import MediaBasics
internal import MediaBridge
internal import Synchronization
internal import UnixSignals

/// Saves replays while a bridge runs: at each SIGUSR1, and at each Enter in a terminal.
final class ReplaySaver: Sendable {
    /// What was saved, and whether all of it could be.
    struct Outcome {
        var files: [RecorderReport.File] = []
        var hasFailed = false
    }

    private let path: String
    private let wishes: AsyncStream<Void>
    private let wish: AsyncStream<Void>.Continuation
    private let signals: Task<Void, Never>
    private let saving = Mutex<Task<Outcome, Never>?>(nil)

    /// Begins to take signals, which would end the process otherwise.
    ///
    /// - Parameter path: The files get it with a number: `goal-00000.mkv`.
    init(path: String) async {
        self.path = path
        (wishes, wish) = AsyncStream.makeStream()
        let sequence = await UnixSignalsSequence(trapping: .sigusr1)
        signals = Task { [wish] in for await _ in sequence { wish.yield() } }
        if isatty(STDIN_FILENO) != 0 { readKeys() }
    }

    /// Takes signals of a recording that keeps nothing for replays, and says so.
    ///
    /// - Returns: What takes them, to be cancelled.
    static func refuse() async -> Task<Void, Never> {
        let sequence = await UnixSignalsSequence(trapping: .sigusr1)
        return Task {
            for await _ in sequence {
                Terminal.say(
                    "cannot save a replay: this recording keeps no media for it. Try: --replay 30s")
            }
        }
    }

    /// Reads lines for as long as the process lives. In the background a terminal cannot be read,
    /// and a process that tries is stopped, unless it ignores the signal.
    private func readKeys() {
        signal(SIGTTIN, SIG_IGN)
        let wish = self.wish
        _ = startThread("keys") { while readLine() != nil { wish.yield() } }
    }

    /// Saves what a recorder keeps, at each wish.
    func begin(_ recorder: Recorder) {
        let key = isatty(STDIN_FILENO) != 0 ? "Enter" : "kill -USR1 \(getpid())"
        Terminal.say("nothing is recorded; \(key) saves the last seconds to \(Self.next(to: path))")
        let task = Task { [path, wishes] in
            var outcome = Outcome()
            for await _ in wishes {
                do throws(PipelineError) {
                    let files = try await recorder.saveReplay(Self.next(to: path))
                    outcome.files += files
                    for file in files {
                        let seconds = Text.decimal(MediaTime(file.duration).seconds, 2)
                        Terminal.say("saved \(file.path): \(seconds) s, \(Text.bytes(file.bytes))")
                    }
                } catch {
                    outcome.hasFailed = true
                    Terminal.complain(error)
                }
            }
            return outcome
        }
        saving.withLock { $0 = task }
    }

    /// Ends, and waits for what is being saved.
    func end() async -> Outcome {
        signals.cancel()
        wish.finish()
        return await saving.withLock({ $0 })?.value ?? Outcome()
    }

    /// Returns the name with the number after the highest one that exists.
    private static func next(to path: String) -> String {
        let names = SegmentNames(path, isNumbered: true)
        return names.path(at: names.nextIndex)
    }
}
