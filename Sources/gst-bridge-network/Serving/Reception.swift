import BridgeCommands
import Foundation
import MediaBridge

/// Records and shows the senders of an engine, each one separately.
actor Reception {
    /// An output that shows a user.
    struct Output: Sendable {
        /// The user that the output is for; `nil` for every user.
        var user: String?
        /// The gst-launch string; `${name}` stands for the user's name.
        var text: String

        func isFor(_ user: UserID) -> Bool { self.user.map { $0 == user.name } ?? true }

        func text(for name: String) -> String {
            text.replacingOccurrences(of: "${name}", with: name)
        }

        /// Throws if the string does not parse.
        func check() throws { _ = try PipelineVideoSink(text(for: "name")) }
    }
    /// The recorded files, and whether anything has failed.
    struct Outcome: Sendable {
        var files: [RecordedFile] = []
        var hasFailed = false
    }
    private struct Entry {
        var recorder: Recorder?
        var videoSinks: [SinkID] = []
        var audioSinks: [SinkID] = []
    }
    private let engine: MediaEngine
    private let outputs: [Output]
    /// Whether every user that joins also sends: recording and outputs start then, otherwise when
    /// the user publishes its first stream.
    private let allSend: Bool
    private let directory: RecordingDirectory?
    private var entries: [UserID: Entry] = [:]
    /// The latest task of each sender: the sender's next task waits for it.
    private var tasks: [UserID: Task<Void, Never>] = [:]
    /// The users' names in the strings of outputs. The names of users that have left stay reserved,
    /// so that two users never write the same file.
    private var names: [UserID: String] = [:]
    private(set) var outcome = Outcome()

    init(
        _ engine: MediaEngine, outputs: [Output], directory: RecordingDirectory?,
        allSend: Bool
    ) {
        self.engine = engine
        self.outputs = outputs
        self.allSend = allSend
        self.directory = directory
    }

    private func name(of user: UserID) -> String {
        if let name = names[user] { return name }
        let safe = RecordingDirectory.safe(user.name)
        var (name, number) = (safe, 2)
        while names.values.contains(name) {
            name = "\(safe)-\(number)"
            number += 1
        }
        names[user] = name
        return name
    }

    func handle(_ event: EngineEvent) {
        switch event {
        case .userJoined(let user):
            Terminal.log("\(user) has \(allSend ? "started sending" : "joined")")
            if allSend { enqueue(user) { await $0.begin(user) } }
        case .published(.video(.main), let user), .published(.audio, let user):
            if !allSend { enqueue(user) { await $0.begin(user) } }
        case .userOffline(let user, let reason):
            let quit = allSend ? "stopped sending" : "left"
            Terminal.log("\(user) has \(reason == .quit ? quit : "disconnected (\(reason))")")
            enqueue(user) { await $0.finish(user) }
        case .sinkFailed(_, let error):
            outcome.hasFailed = true
            Terminal.log("\(error)")
        default: break
        }
    }

    private func enqueue(
        _ user: UserID, _ work: @escaping @Sendable (Reception) async -> Void
    ) {
        let before = tasks[user]
        tasks[user] = Task {
            await before?.value
            await work(self)
        }
    }

    func endAll() async {
        for user in entries.keys { enqueue(user) { await $0.finish(user) } }
        for task in tasks.values { await task.value }
    }

    /// Starts a user's recording and outputs, unless they have started.
    private func begin(_ user: UserID) async {
        guard entries[user] == nil else { return }
        var entry = Entry()
        do {
            if let directory {
                var configuration = Recorder.Configuration()
                configuration.video = .copy
                // An engine delivers the audio of remote users as samples.
                configuration.audio = AudioEncoding()
                configuration.whenExists = .number
                let recorder = try Recorder(directory.path(for: user), configuration: configuration)
                let news = recorder.events
                Task { for await event in news { RecordingNews.notify(event) } }
                entry.recorder = recorder
                // Started first, so that the first keyframe is in the file.
                try recorder.start()
                try await engine.addRecorder(recorder, to: .remote(user, .main))
            }
            for output in outputs where output.isFor(user) {
                let sink = try PipelineVideoSink(output.text(for: name(of: user)))
                if let audio = sink.audio {
                    entry.audioSinks.append(try await engine.addAudioSink(audio, to: .remote(user)))
                }
                entry.videoSinks.append(
                    try await engine.addVideoSink(sink, to: .remote(user, .main)))
            }
        } catch {
            outcome.hasFailed = true
            Terminal.log("\(user): \(error)")
        }
        entries[user] = entry
    }

    private func finish(_ user: UserID) async {
        guard let entry = entries.removeValue(forKey: user) else { return }
        for id in entry.videoSinks { try? await engine.removeVideoSink(id) }
        for id in entry.audioSinks { try? await engine.removeAudioSink(id) }
        guard let recorder = entry.recorder else { return }
        try? await engine.removeRecorder(recorder)
        do throws(PipelineError) {
            let report = try await recorder.stop()
            outcome.files += report.files
            if let failure = report.failure { throw failure }
        } catch {
            outcome.hasFailed = true
            Terminal.log(error)
        }
    }
}

/// A directory for the recordings of senders, whose names are untrusted input.
struct RecordingDirectory {
    let path: String

    /// Creates the directory if it does not exist.
    init(creating path: String) throws(PipelineError) {
        self.path = path
        var isDirectory: ObjCBool = false
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            isDirectory.boolValue, access(path, W_OK) == 0
        else {
            throw PipelineError(
                .notFound, message: "\(path) is not a writable directory",
                advice: "another --record DIR")
        }
    }

    /// The path of a recording that begins now: `NAME-20250131-142536.mkv`, or the next number for
    /// this name if the file exists.
    func path(for user: UserID) -> String {
        let literal = path.replacingOccurrences(of: "%", with: "%%")
        return RecordingNames(
            "\(literal)/\(Self.safe(user.name))-%Y%m%d-%H%M%S.mkv", isNumbered: false,
            dates: WallClock()
        ).nextPath()
    }

    /// A name that is valid in a path and in a pipeline string: the letters and digits of all
    /// scripts, with their marks, `-` and `_`, in at most 160 bytes. Other scalars become `_`, so different
    /// names may become equal.
    ///
    /// Each scalar is checked: the first one of a character says nothing about the others, and a space or
    /// a slash may follow it.
    static func safe(_ name: String) -> String {
        var (safe, canTakeMark) = (String.UnicodeScalarView(), false)
        for scalar in name.precomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter,
                .decimalNumber, .letterNumber, .otherNumber:
                canTakeMark = true
            // A mark at the start would join the slash in front of the name.
            case .nonspacingMark, .spacingMark: break
            default: canTakeMark = false
            }
            safe.append(canTakeMark || scalar == "-" ? scalar : "_")
            if String(safe).utf8.count > 160 {
                safe.removeLast()
                break
            }
        }
        return safe.isEmpty ? "sender" : String(safe)
    }
}
