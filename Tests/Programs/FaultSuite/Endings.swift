import Foundation
import TestSupport

/// Every way to end a recording, except a kill.
enum Endings {
    static let promises = Subject.all.map { subject in
        Promise(
            name: "endings-\(subject.name)", fault: "Ends other than a kill, \(subject.title)",
            text: "a complete file; every frame is accounted for; errors are reported"
        ) { try await check(subject, $0) }
    }

    private enum Way: String, CaseIterable {
        case eos = "end of stream"
        case stop
        case interrupt = "SIGINT"
        case terminate = "SIGTERM"
        case capture = "capture fails"
        case processor = "processor throws"

        /// Whether the end must be reported as an error.
        var isFailure: Bool { self == .capture || self == .processor }
    }

    /// The result of one ending.
    private struct Remains: Sendable {
        var frames: Int
        var complaints: [String]
    }

    private static func check(_ subject: Subject, _ options: Options) async throws -> Finding {
        // Copied media passes no processor.
        let ways = Way.allCases.filter { !subject.isCopy || $0 != .processor }
        let all = try await inTurns(ways, width: 2) { way in
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(subject.container)")
                switch way {
                case .interrupt, .terminate: return try await signalled(way, subject, path, options)
                default: return try await ended(way, subject, path, options)
                }
            }
        }
        return Finding(
            "\(all.count) endings, \(all.map(\.frames).reduce(0, +)) frames: all in the files, "
                + "no errors of ffprobe",
            complaints: all.flatMap(\.complaints))
    }

    private static func ended(
        _ way: Way, _ subject: Subject, _ path: String, _ options: Options
    ) async throws -> Remains {
        var camera = Camera()
        if way == .eos { camera.frames = 45 }
        if way == .capture { camera.failsAfter = 45 }
        var order = VictimOrder(camera, as: subject, into: path)
        if way == .processor { order.throwAt = 45 }
        if way == .stop { order.stopAfter = 45 }
        let report = try await Recording.run(order)
        var complaints = Complaints()
        complaints.expect(report.addsUp, "\(way.rawValue): the report does not add up: \(report)")
        complaints.expect(
            report.hasThrown == way.isFailure && (report.bridgeEnded == "error") == way.isFailure,
            "\(way.rawValue): ended as \(report.bridgeEnded ?? "nothing")")
        return try await remains(way, path, written: report.written, complaints, options)
    }

    /// Ends the command by a signal.
    private static func signalled(
        _ way: Way, _ subject: Subject, _ path: String, _ options: Options
    ) async throws -> Remains {
        var complaints = Complaints()
        let media = subject.isCopy ? ["--video", "copy", "--audio", "copy"] : []
        let (result, frames) = try await withChildProcess(
            Tool.gstBridge,
            [
                "record", "--capture", Camera().capture(for: subject), "--report", "json",
                "--progress", "always", path,
            ] + media, environment: ["DISPLAY": ""]
        ) { child in
            try await child.waitForErrors(to: "count frames") { $0.contains(" fps ") }
            child.send(signal: way == .interrupt ? SIGINT : SIGTERM)
            let result = try await child.end()
            let line = result.output.split(separator: "\n").last ?? ""
            let report = try? JSONDecoder().decode(CommandReport.self, from: Data(line.utf8))
            return (result, report?.outputs["recording"]?.frames)
        }
        complaints.expect(result.status == 0, "\(way.rawValue): status \(result.status)")
        complaints.expect(frames != nil, "\(way.rawValue): no report")
        return try await remains(way, path, written: frames ?? 0, complaints, options)
    }

    private struct CommandReport: Decodable {
        struct Counts: Decodable { var frames: Int }
        var outputs: [String: Counts]
    }

    /// The tolerance in seconds between the ends of video and audio. On a busy machine a live source delivers
    /// its last frame earlier, so only `make faults` measures it.
    private static let tolerance = 0.25

    private static func remains(
        _ way: Way, _ path: String, written: Int, _ sofar: Complaints,
        _ options: Options
    ) async throws -> Remains {
        var complaints = sofar
        let found = try await Judgement(of: path)
        complaints.expect(
            found.complaints.isEmpty, "\(way.rawValue): ffprobe: \(found.complaints.first ?? "")")
        complaints.expect(
            found.frames == written && written > 20,
            "\(way.rawValue): \(found.frames) frames of \(written) in the file")
        let sound = found.soundEnd ?? 0
        complaints.expect(
            options.isQuick ? sound > 0 : abs(sound - found.lastPicture) < tolerance,
            "\(way.rawValue): audio ends at \(sound.text) s, video at \(found.lastPicture.text) s"
        )
        // A complete file declares its duration; after a kill it does not.
        let announced = try await MediaProbe(of: path).duration ?? 0
        complaints.expect(
            abs(announced - found.length) < 0.3,
            "\(way.rawValue): the file declares \(announced.text) s of \(found.length.text) s")
        return Remains(frames: found.frames, complaints: complaints.all)
    }
}
