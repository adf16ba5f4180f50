import Foundation
import MediaBridge
import TestSupport

extension MutatedCapture {
    /// Runs the capture, with its files in `directory`.
    func run(in directory: TemporaryDirectory) async throws -> Outcome {
        let path = directory.file("out.\(container)")
        switch way {
        case .run, .record: return try await runBridge(path)
        case .push: return try await runRecorder(path)
        case .engineRecord, .enginePush, .engineSink: return try await runEngine(path)
        case .commandRun, .commandRecord: return try await runCommand(path)
        }
    }

    /// The recorder configuration for this capture.
    var recording: Recorder.Configuration {
        var configuration = Recorder.Configuration()
        configuration.audio = hasSound ? AudioEncoding() : nil
        configuration.whenFull = .wait
        return configuration
    }

    private func runBridge(_ path: String) async throws -> Outcome {
        var plan = BridgePlan(
            capture: captureText, outputs: way == .run ? [outputText(to: path)] : [])
        if way == .record {
            plan.recordings = [BridgePlan.Recording(path: path, configuration: recording)]
        }
        let bridge = try Bridge(plan)
        let report = await bridge.run()
        var outcome = Outcome()
        outcome.failures = report.failures.map(\.description)
        if let recorder = bridge.recorders.first {
            outcome.add(recorder.report)
        } else {
            let output = report.outputs["output"]
            outcome.files = [Outcome.File(path: path, pictures: output?.frames)]
            outcome.pictures.offered = report.captures["video"]?.frames ?? 0
            outcome.pictures.written = output?.frames ?? 0
            outcome.pictures.dropped = output?.dropped ?? DropCounts()
        }
        outcome.droppedBefore = report.captures["video"]?.dropped ?? DropCounts()
        return outcome
    }

    private struct CommandReport: Decodable {
        struct Counts: Decodable {
            var frames: Int
            var dropped: Int
        }
        struct File: Decodable {
            var path: String
            var frames: Int
        }
        var captures: [String: Counts]
        var outputs: [String: Counts]
        var files: [File]?
        var ended: String
    }

    /// The arguments of `gst-bridge` for this capture.
    func commandArguments(to path: String) -> [String] {
        let options = ["--report", "json", "--capture", captureText]
        if way == .commandRun { return ["run"] + options + ["--output", outputText(to: path)] }
        return ["record"] + options + (hasSound ? [] : ["--audio", "none"]) + [path]
    }

    private func runCommand(_ path: String) async throws -> Outcome {
        let result = try await Tool.run(
            Tool.gstBridge, commandArguments(to: path))
        var outcome = Outcome()
        if result.status != 0 { outcome.failures = ["\(result.status): \(result.errors)"] }
        guard let line = result.output.split(separator: "\n").last,
            let report = try? JSONDecoder().decode(CommandReport.self, from: Data(line.utf8))
        else {
            outcome.failures.append("no report: \(result.output)")
            return outcome
        }
        let output = report.outputs.values.first
        outcome.files =
            report.files?.map { Outcome.File(path: $0.path, pictures: $0.frames) }
            ?? [Outcome.File(path: path, pictures: output?.frames)]
        outcome.pictures.offered = report.captures["video"]?.frames ?? 0
        outcome.pictures.written = output?.frames ?? 0
        // The command reports the number of drops, but not the causes.
        outcome.pictures.dropped[.unwritten] = output?.dropped ?? 0
        outcome.droppedBefore[.unwritten] = report.captures["video"]?.dropped ?? 0
        return outcome
    }
}

extension Outcome {
    mutating func add(_ report: RecorderReport) {
        files = report.files.map {
            File(path: $0.path, pictures: $0.frames, isComplete: $0.failure == nil)
        }
        if let video = report.video {
            pictures = Counts(
                offered: video.offered, written: video.written, repeated: video.repeated,
                dropped: video.dropped)
        }
        if let audio = report.audio { soundDrops = audio.dropped + audio.droppedEncodedFrames }
        if let failure = report.failure, !failures.contains(failure.description) {
            failures.append(failure.description)
        }
    }
}
