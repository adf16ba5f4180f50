internal import Glibc
internal import MediaBasics
internal import MediaBridge
internal import Synchronization
internal import UnixSignals

/// Passes the requests of signals and of lines in a terminal to the recorder of a bridge while it runs: SIGUSR1 is `replay`, SIGUSR2 is `mark`. An empty line is one of the two.
final class RecordingRequests: Sendable {
    /// The replays, and whether all could be saved.
    struct Outcome {
        var files: [RecordedFile]?
        var hasFailed = false
    }

    private let savesReplays: Bool
    private let requests: AsyncStream<String>
    private let request: AsyncStream<String>.Continuation
    private let signals: Task<Void, Never>
    private let work = Mutex<Task<Outcome, Never>?>(nil)

    /// Begins to take signals, which would end the process otherwise.
    init(savesReplays: Bool) async {
        self.savesReplays = savesReplays
        (requests, request) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        let sequence = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
        signals = Task { [request] in
            for await signal in sequence { request.yield(signal == .sigusr1 ? "replay" : "mark") }
        }
    }

    /// Reads lines for as long as the process lives. In the background a terminal cannot be read,
    /// and a process that tries is stopped, unless it ignores the signal.
    private func readLines() {
        signal(SIGTTIN, SIG_IGN)
        let (request, usual) = (self.request, savesReplays ? "replay" : "mark")
        _ = startThread("keys") {
            while let line = readLine() { request.yield(line.isEmpty ? usual : line) }
        }
    }

    /// Performs requests, one after the other.
    func begin(_ bridge: BridgeControl, isIdle: Bool) {
        guard let control = bridge.recorder else { return }
        if isatty(STDIN_FILENO) != 0 { readLines() }
        if isIdle { Terminal.log("nothing is recorded; \(invitation(control))") }
        let task = Task { [requests, savesReplays] in
            var outcome = Outcome()
            for await request in requests {
                let verb = String(request.prefix { $0 != " " })
                guard verb != "status", BridgeControl.Verb(rawValue: verb) == nil else {
                    Terminal.log(await bridge.answer(request))
                    continue
                }
                do throws(PipelineError) {
                    for file in try await control.perform(request) {
                        let seconds = Text.decimal(MediaTime(file.duration).seconds, 2)
                        Terminal.log("saved \(file.path): \(seconds) s, \(Text.bytes(file.bytes))")
                    }
                } catch {
                    if savesReplays, request.hasPrefix("replay") { outcome.hasFailed = true }
                    Terminal.log(error)
                }
            }
            outcome.files = control.replays
            return outcome
        }
        work.withLock { $0 = task }
    }

    /// What to do to get a file.
    private func invitation(_ control: RecorderControl) -> String {
        guard savesReplays else { return "the request \"start\" begins a file" }
        let key = isatty(STDIN_FILENO) != 0 ? "Enter" : "kill -USR1 \(getpid())"
        return "\(key) saves the last seconds to \(control.nextReplay)"
    }

    /// Ends, and waits for what is being saved.
    func end() async -> Outcome {
        signals.cancel()
        request.finish()
        var outcome = await work.withLock({ $0 })?.value ?? Outcome()
        if !savesReplays { outcome.files = nil }
        return outcome
    }
}
