internal import MediaBasics
internal import Synchronization

/// Controls a recorder by requests of one line each, which may come from a socket, a terminal or a
/// script.
///
/// | Request | Effect |
/// | --- | --- |
/// | `start` | ``Recorder/start()`` |
/// | `stop` | Completes the file, and gets ready for the next `start`: ``Recorder/rearm()`` |
/// | `split` | Begins the next file: ``Recorder/split()`` |
/// | `pause`, `resume` | ``Recorder/pause()``, ``Recorder/resume()`` |
/// | `mark [NAME]` | ``Recorder/mark(_:)``; without a name, `mark 1`, `mark 2` … |
/// | `replay [DURATION]` | Saves the last seconds to a new numbered file: ``Recorder/saveReplay(_:last:)`` |
/// | `status` | Nothing |
///
/// Thread: any.
package final class RecorderControl: Sendable {
    private enum Verb: String, CaseIterable {
        case start, stop, split, pause, resume, mark, replay, status
    }
    /// The first words of all requests.
    package static let verbs = Verb.allCases.map(\.rawValue)
    private struct State {
        var marks = 0
        var replays: [RecordedFile] = []
    }
    private let recorder: Recorder
    private let names: RecordingNames
    private let state = Mutex(State())

    /// Controls a recorder; the caller still ends it with ``Recorder/stop()``.
    package init(_ recorder: Recorder) {
        self.recorder = recorder
        let configuration = recorder.configuration
        names = RecordingNames(
            recorder.path, isNumbered: true,
            dates: configuration.isDated ? configuration.wallClock : nil)
    }

    /// The files of all replays so far.
    package var replays: [RecordedFile] { state.withLock { $0.replays } }

    /// The path of the next replay, or the pattern of its name.
    package var nextReplay: String { names.isDated ? names.path : names.nextPath() }

    /// Performs a request.
    ///
    /// - Returns: The file that it completed, or the files of the replay.
    /// - Throws: ``PipelineError``: that of the recorder, or ``PipelineError/Code/badValue`` for a
    ///   request that does not exist.
    @discardableResult
    package func perform(_ request: String) async throws(PipelineError) -> [RecordedFile] {
        let words = request.split(separator: " ")
        // The spaces within it are kept.
        let rest =
            words.count > 1
            ? String(request[words[1].startIndex..<words[words.count - 1].endIndex]) : ""
        guard let verb = words.first.flatMap({ Verb(rawValue: String($0)) }),
            rest.isEmpty || verb == .mark || verb == .replay
        else {
            throw PipelineError(
                .badValue, message: "unknown request \"\(request)\"",
                advice: "one of \(Self.verbs.joined(separator: ", "))")
        }
        switch verb {
        case .start:
            guard recorder.phase.withLock({ $0 }) != .recording else {
                throw PipelineError(
                    .invalidState, message: "a file is being recorded already", advice: "stop")
            }
            try recorder.start()
        case .stop: return try await Array(recorder.rearm().files.suffix(1))
        case .split: try recorder.split()
        case .pause:
            try recorder.requireRecording()
            recorder.pause()
        case .resume: recorder.resume()
        case .mark: try recorder.mark(rest.isEmpty ? nextMark() : rest)
        case .replay: return try await replay(rest)
        case .status: break
        }
        return []
    }

    /// Performs a request and answers with one line of JSON: `ok`, `error` if it failed, the
    /// `files` that it completed, and the recorder's `state` (`idle`, `recording`, `paused`,
    /// `stopping` or `ended`), current `file`, `seconds`, `bytes`, `bytesPerSecond`, `freeBytes`,
    /// `frames` and `dropped`.
    package func answer(_ request: String) async -> String {
        var answer: Answer
        do throws(PipelineError) {
            let files = try await perform(request)
            answer = Answer(recorder)
            answer.files = files.isEmpty ? nil : files.map { ReportedFile($0) }
        } catch {
            answer = Answer(recorder)
            (answer.ok, answer.error) = (false, "\(error)")
        }
        return (try? JSONLine.text(of: answer)) ?? "{\"ok\":false}"
    }

    private func nextMark() -> String {
        state.withLock { state in
            state.marks += 1
            return "mark \(state.marks)"
        }
    }

    private func replay(_ length: String) async throws(PipelineError) -> [RecordedFile] {
        let last = Duration(text: length)
        guard last != nil || length.isEmpty else {
            throw PipelineError(
                .badValue, message: "\"\(length)\" is not a duration", advice: "replay 30s")
        }
        guard recorder.configuration.replay != nil else {
            throw PipelineError(
                .invalidState,
                message: "cannot save a replay: this recording keeps no media for it",
                advice: "--replay 30s")
        }
        let path = names.nextPath()
        try names.createDirectory(of: path)
        let files = try await recorder.saveReplay(path, last: last)
        state.withLock { $0.replays += files }
        return files
    }

    private struct Answer: Encodable {
        var ok = true
        var error: String?
        var files: [ReportedFile]?
        let state: String
        let file: String?
        let seconds: Double
        let bytes: Int
        let bytesPerSecond: Int
        let freeBytes: Int?
        let frames: Int
        let dropped: Int

        init(_ recorder: Recorder) {
            let report = recorder.report
            let track = report.tracks.first
            state =
                switch recorder.phase.withLock({ $0 }) {
                case .idle: "idle"
                case .recording: recorder.timeline.isPaused ? "paused" : "recording"
                case .rearming: "stopping"
                case .stopping: "ended"
                }
            file = recorder.progressState.update { $0.current?.path }
            seconds = MediaTime(report.duration).seconds.inThousandths
            bytes = report.bytes
            bytesPerSecond = Int(recorder.bytesPerSecond)
            freeBytes = recorder.freeBytes
            frames = track?.written ?? 0
            dropped = track?.losses.total ?? 0
        }
    }
}
