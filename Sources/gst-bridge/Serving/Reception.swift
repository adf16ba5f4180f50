import MediaBridge

/// Records and shows those who send to an engine, each by itself.
actor Reception {
    /// What was recorded, and whether all of it could be.
    struct Outcome: Sendable {
        var files: [RecorderReport.File] = []
        var hasFailed = false
    }
    private struct Entry {
        var recorder: Recorder?
        var recording: MediaEngine.RecordingID?
        var renderers: [RendererID] = []
        var sinks: [AudioSinkID] = []
    }
    private let engine: MediaEngine
    private let outputs: [String]
    private let directory: RecordingDirectory?
    private var entries: [UserID: Entry] = [:]
    /// The latest task of each sender: what comes next for it waits for that.
    private var tasks: [UserID: Task<Void, Never>] = [:]
    private(set) var outcome = Outcome()

    init(_ engine: MediaEngine, outputs: [String], directory: RecordingDirectory?) {
        self.engine = engine
        self.outputs = outputs
        self.directory = directory
    }

    /// The string of an output for a sender.
    static func text(_ output: String, for user: UserID) -> String {
        output.replacingOccurrences(of: "${name}", with: RecordingDirectory.safe(user.name))
    }

    /// Follows the engine's events until it is shut down.
    func follow(_ events: EngineEvents, _ end: EndOfServing) async {
        for await event in events {
            switch event {
            case .userJoined(let user):
                Terminal.say("\(user) sends")
                enqueue(user) { await $0.begin(user) }
            case .userOffline(let user, let reason):
                Terminal.say(
                    "\(user) has \(reason == .quit ? "ended" : "gone (\(reason.rawValue))")")
                enqueue(user) { await $0.finish(user) }
            case .disconnected(let error): end.note(.failure(error))
            case .rendererFailed(_, let error), .audioSinkFailed(_, let error):
                outcome.hasFailed = true
                Terminal.say("\(error)")
            case .warning(let text): Terminal.say("warning: \(text)")
            default: break
            }
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

    /// Completes all files.
    func endAll() async {
        for user in entries.keys { enqueue(user) { await $0.finish(user) } }
        for task in tasks.values { await task.value }
    }

    private func begin(_ user: UserID) async {
        var entry = Entry()
        do {
            if let directory {
                var configuration = Recorder.Configuration()
                configuration.video = .copy
                // An engine gives the sound of others as samples.
                configuration.audio = AudioEncoding()
                let recorder = try Recorder(
                    directory.newPath(for: user), configuration: configuration)
                tell(recorder.events)
                entry.recorder = recorder
                // Started first, so that the first key frame is in the file.
                try recorder.start()
                entry.recording = try await engine.addRecorder(recorder, to: .remote(user, .main))
            }
            for output in outputs {
                let sink = try PipelineVideoSink(Self.text(output, for: user))
                if let audio = sink.audio {
                    entry.sinks.append(try await engine.addAudioSink(audio, to: .remote(user)))
                }
                entry.renderers.append(
                    try await engine.addVideoRenderer(sink, to: .remote(user, .main)))
            }
        } catch {
            outcome.hasFailed = true
            Terminal.say("\(user): \(error)")
        }
        entries[user] = entry
    }

    private func tell(_ events: AsyncStream<RecorderEvent>) {
        Task { for await event in events { RecordingNews.tell(event) } }
    }

    private func finish(_ user: UserID) async {
        guard let entry = entries.removeValue(forKey: user) else { return }
        for id in entry.renderers { try? await engine.removeVideoRenderer(id) }
        for id in entry.sinks { try? await engine.removeAudioSink(id) }
        if let recording = entry.recording { try? await engine.removeRecorder(recording) }
        guard let recorder = entry.recorder else { return }
        do throws(PipelineError) {
            let report = try await recorder.stop()
            outcome.files += report.files
            if let failure = report.failure {
                outcome.hasFailed = true
                Terminal.complain(failure)
            }
        } catch {
            outcome.hasFailed = true
            Terminal.complain(error)
        }
    }
}
