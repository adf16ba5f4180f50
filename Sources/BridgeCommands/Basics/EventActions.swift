internal import Glibc
internal import MediaBasics
internal import MediaBridge
internal import Synchronization

/// What happens for each event of a recording once its file is complete: a picture is written, a command runs.
///
/// Thread: any.
final class EventActions: Sendable {
    private let command: String?
    private let writesPictures: Bool
    /// The names of the detectors.
    private let detectors: Set<String>
    private let news: AsyncStream<RecorderEvent>
    private let continuation: AsyncStream<RecorderEvent>.Continuation
    private let work = Mutex<Task<Void, Never>?>(nil)
    private let failed = Atomic(false)

    /// How long a command may run.
    private static let limit = Duration.seconds(60).asDefaultDeadline
    /// What a command may name in braces.
    private static let names = ["kind", "file", "time", "picture"]
    /// The number of files that may wait for commands.
    private static let depth = 1_000

    /// - Parameters:
    ///   - command: A command of the shell, with `{kind}`, `{file}`, `{time}` and `{picture}`; `nil` for none.
    ///   - writesPictures: Whether each event gets a picture beside its file.
    ///   - detectors: The names of the detectors whose events count.
    init(command: String?, writesPictures: Bool, of detectors: [String]) {
        (self.command, self.writesPictures) = (command, writesPictures)
        self.detectors = Set(detectors)
        (news, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(Self.depth))
    }

    /// Begins to act on the files of a recorder.
    func begin(_ recorder: Recorder) {
        recorder.onEvent { [self] event in
            switch event {
            case .fileFinished, .fileRemoved: break
            default: return
            }
            if case .dropped = continuation.yield(event) {
                fail("\(Self.depth) files wait for --on-event: the events of a file are left out")
            }
        }
        let task = Task {
            for await event in news {
                switch event {
                case .fileFinished(let file): await finished(file)
                case .fileRemoved(let path): removePictures(of: path)
                default: break
                }
            }
        }
        work.withLock { $0 = task }
    }

    /// Waits for what is still to be done.
    ///
    /// - Returns: Whether everything succeeded.
    func end() async -> Bool {
        continuation.finish()
        await work.withLock { $0 }?.value
        return !failed.load(ordering: .relaxed)
    }

    private func fail(_ text: String) {
        failed.store(true, ordering: .relaxed)
        Terminal.log(text)
    }

    // MARK: Files

    private func finished(_ file: RecordedFile) async {
        for (index, event) in file.marks.filter({ detectors.contains($0.name) }).enumerated() {
            var picture: String?
            if writesPictures {
                let path = Self.picture(index + 1, of: file.path)
                do {
                    let recording = try await Recordings.file(at: file.path)
                    try await recording.picture(at: event.time).writePicture(to: path)
                    picture = path
                } catch {
                    let text = "no picture of \(event.name) in \(file.path): "
                    // A small ring removes the files of a film faster than pictures are decoded.
                    if access(file.path, F_OK) == 0 {
                        fail("\(text)\(error)")
                    } else {
                        Terminal.log("\(text)the file was removed first")
                    }
                }
            }
            await run(event, in: file.path, picture)
        }
    }

    /// `cam-1.jpg` for the first event in `cam.mkv`.
    private static func picture(_ number: Int, of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        let ending = name.lastIndex(of: ".").map { name[$0...].utf8.count } ?? 0
        return "\(String(decoding: path.utf8.dropLast(ending), as: UTF8.self))-\(number).jpg"
    }

    /// Removes the pictures beside a file that was removed.
    private func removePictures(of path: String) {
        guard writesPictures else { return }
        var number = 1
        while unlink(Self.picture(number, of: path)) == 0 { number += 1 }
    }

    // MARK: Commands

    private func run(_ event: RecordedFile.Mark, in file: String, _ picture: String?) async {
        guard let command else { return }
        // The shell takes the values from the environment: in its text they would need quotes.
        let values = [
            "EVENT_KIND": event.name, "EVENT_FILE": file, "EVENT_PICTURE": picture ?? "",
            "EVENT_TIME": Text.decimal(MediaTime(event.time).seconds, 3),
        ]
        let text = Self.names.reduce(command) { text, name in
            text.replacing("{\(name)}", with: "\"${EVENT_\(name.uppercased())}\"")
        }
        let place = "\(event.name) in \(file)"
        do throws(PipelineError) {
            let program = try ChildProgram(
                "sh", ["-c", text], environment: values, hasOwnGroup: true)
            switch await program.end(within: Self.limit) {
            case .exited(0): break
            case .exited(let status):
                fail("the command for \(place) ended with \(status): \(command)")
            case .killed(let signal):
                let name = String(cString: strsignal(signal))
                fail("the command for \(place) was ended by \"\(name)\": \(command)")
            }
        } catch { fail("--on-event: \(error)") }
    }
}
