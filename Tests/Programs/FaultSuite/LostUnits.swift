import Foundation
import TestSupport

/// Copied recordings in which one stream pauses while the other continues; the stream may come back
/// or not.
enum LostUnits {
    static let promises = [
        Promise(
            name: "sound-lost-copy", fault: "Audio stops, later kill -9, mkv, copied",
            text: "at most 2.4 s are lost while the file waits for audio; later at most one frame"
        ) { try await killed($0) },
        Promise(
            name: "sound-back-copy",
            fault: "Audio stops for four seconds, each container, copied",
            text: "every frame is recorded; audio resumes in another file; no stall event"
        ) { try await away(.sound, for: .seconds(4), $0) },
        Promise(
            name: "pictures-back-copy",
            fault: "Video stops for nine seconds, each container for H.264, copied",
            text: "every frame after the gap is recorded; no stall event"
        ) { try await away(.pictures, for: .seconds(9), $0) },
    ]

    private static func killed(_ options: Options) async throws -> Finding {
        var random = SeededGenerator(seed: options.seed &+ 1)
        let moments = (0..<min(16, options.kills)).map { _ in
            Double.random(in: 0.5...5, using: &random)
        }
        let losses = try await inTurns(moments, width: 2) { moment in
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                let port = try FreePort.udp()
                let sound = try Sender.sound.start(at: port)
                defer { sound.send(signal: SIGKILL) }
                let recording = try Recording(
                    VictimOrder(
                        Camera(soundPort: port), as: Subject(container: "mkv", isCopy: true),
                        into: path))
                defer { recording.child.send(signal: SIGKILL) }
                try await recording.untilTold("fileStarted")
                try await Task.sleep(for: .seconds(1))
                sound.send(signal: SIGKILL)
                try await Task.sleep(for: .seconds(moment))
                recording.child.send(signal: SIGKILL)
                let offered = Recording.offered(in: try await recording.child.end().output)
                let found = try await Judgement(of: path)
                return (
                    isWaiting: moment < Self.patience, frames: max(0, offered - found.frames),
                    complaints: found.complaints
                )
            }
        }
        let waiting = losses.filter(\.isWaiting).map(\.frames)
        let later = losses.filter { !$0.isWaiting }.map(\.frames)
        var complaints = Complaints()
        complaints.expect(
            waiting.allSatisfy { $0 <= Int(Self.patience * 30) } && later.allSatisfy { $0 <= 1 },
            "frames lost: \(waiting) while waiting for audio, \(later) later")
        let broken = losses.flatMap(\.complaints).filter { !Kills.isTorn($0) }
        complaints.expect(broken.isEmpty, "ffprobe: \(broken.first ?? "")")
        func text(_ frames: [Int]) -> String {
            "\(frames.count) kills: at most \(frames.max() ?? 0) frames"
        }
        return Finding(
            "while waiting for audio, \(text(waiting)); later, \(text(later))",
            complaints: complaints.all)
    }

    /// Seconds until a file continues without audio, with a margin for a busy machine.
    private static let patience = 2.4

    private static func away(
        _ lost: Sender, for absence: Duration, _ options: Options
    ) async throws -> Finding {
        let containers = options.containers.filter { lost == .sound || $0 != "webm" }
        let findings = try await inTurns(containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                let port = try FreePort.udp()
                var camera = Camera()
                if lost == .sound { camera.soundPort = port } else { camera.picturePort = port }
                let order = VictimOrder(
                    camera, as: Subject(container: container, isCopy: true),
                    into: directory.file("out.\(container)"))
                var sender = try lost.start(at: port)
                defer { sender.send(signal: SIGKILL) }
                let recording = try Recording(order)
                defer { recording.child.send(signal: SIGKILL) }
                try await recording.untilTold("fileStarted")
                try await Task.sleep(for: .seconds(2))
                sender.send(signal: SIGKILL)
                try await Task.sleep(for: absence)
                sender = try lost.start(at: port)
                try await recording.untilTold("fileStarted:streamAppeared")
                try await Task.sleep(for: .seconds(2))
                recording.child.send(signal: SIGTERM)
                let report = try await recording.report()
                return (report.written, try await judge(report, container))
            }
        }
        return Finding(
            "\(findings.map(\.0).reduce(0, +)) frames in two files each, none lost",
            complaints: findings.flatMap(\.1))
    }

    private static func judge(_ report: VictimReport, _ container: String) async throws -> [String]
    {
        var complaints = Complaints()
        complaints.expect(
            !report.hasThrown && !report.events.contains("stalled"),
            "\(report.failure?.message ?? ""), events: \(report.events)")
        complaints.expect(
            report.addsUp && report.written == report.offered,
            "\(report.written) of \(report.offered) frames written, dropped \(report.dropped)")
        complaints.expect(report.files.count == 2, "\(report.files.count) files")
        for file in report.files {
            let found = try await Judgement(of: file.path)
            complaints.expect(
                found.frames == file.frames && found.frames > 30,
                "\(found.frames) frames of \(file.frames) in a file")
            complaints.expect((found.soundEnd ?? 0) > 1, "a file has no audio")
            complaints.expect(found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
        }
        return complaints.all.map { "\(container): \($0)" }
    }
}
