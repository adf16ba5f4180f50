import Foundation
import TestSupport

/// Frames that violate the rules for sources.
enum OddFrames {
    static let promises =
        [
            Promise(
                name: "no-time", fault: "Frames without a timestamp",
                text: "counted as `noTime`; all other frames are recorded"
            ) { _ in
                var pictures = VictimOrder.steady(90)
                for index in stride(from: 9, to: 90, by: 10) { pictures[index].time = nil }
                return try await counted(pictures, cause: "noTime", frames: 81)
            },
            Promise(
                name: "backward-time", fault: "Frames whose timestamps go back",
                text: "counted as `backwards`; all other frames are recorded"
            ) { _ in
                var pictures = VictimOrder.steady(90)
                for index in stride(from: 9, to: 90, by: 10) { pictures[index].time! -= 0.2 }
                return try await counted(pictures, cause: "backwards", frames: 81)
            },
            Promise(
                name: "rate-change", fault: "Only the frame rate changes, each container",
                text: "one file; every frame keeps its timestamp"
            ) { try await rateChange($0) },
            Promise(
                name: "encoder-fails",
                fault: "The encoder refuses a frame mid-recording, each container",
                text: "a typed error; the written part is a complete file"
            ) { try await encoderFails($0) },
        ]
        + Subject.kinds.flatMap { isCopy in
            [
                Promise(
                    name: "format-change",
                    fault: isCopy
                        ? "Size changes mid-recording, each container"
                        : "Size and format change mid-recording, each container", isCopy: isCopy,
                    text: "a new file for each change; no frame is lost; all files play"
                ) { try await formatChange($0, isCopy) },
                Promise(
                    name: "clock-forward",
                    fault: "The clock jumps ten minutes ahead, each container",
                    isCopy: isCopy, text: "the file plays; no frame is lost"
                ) { try await clock($0, isCopy, jumpsBy: 600) },
                Promise(
                    name: "clock-backward",
                    fault: "The clock jumps ten minutes back, each container",
                    isCopy: isCopy, text: "the file plays; its time goes on; no frame is lost"
                ) { try await clock($0, isCopy, jumpsBy: -600) },
            ]
        }

    private static func rateChange(_ options: Options) async throws -> Finding {
        let findings = try await inTurns(options.containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                var order = VictimOrder(path: directory.file("out.\(container)"))
                func pictures(_ rate: Int) -> String {
                    "videotestsrc num-buffers=\(rate) ! video/x-raw,format=I420,width=320,height=240,"
                        + "framerate=\(rate)/1 ! c."
                }
                order.capture =
                    "concat name=c ! appsink name=video \(pictures(30)) \(pictures(25))"
                order.hasSound = false
                let report = try await Recording.run(order)
                let found = try await Judgement(of: order.path)
                var complaints = Complaints()
                let length = found.lastPicture - (found.firstPicture ?? 0)
                complaints.expect(
                    found.frames == 55 && report.files.count == 1,
                    "\(found.frames) frames of 55 in \(report.files.count) files")
                complaints.expect(
                    abs(length - 1.96) < 0.002, "the last is at \(length.text) s of 1.96 s")
                let times = try await MediaProbe.videoTimes(of: order.path)
                let due = (0..<30).map { Double($0) / 30 } + (0..<25).map { 1 + Double($0) / 25 }
                complaints.expect(
                    zip(times, due).allSatisfy { abs($0 - times[0] - $1) < 0.002 },
                    "the frames are at \(times)")
                complaints.expect(!report.hasThrown, "\(report.failure?.message ?? "it threw")")
                complaints.expect(
                    found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
                return complaints.all.map { "\(container): \($0)" }
            }
        }
        return Finding("55 of 55 frames in one file", complaints: findings.flatMap { $0 })
    }

    private static func counted(
        _ pictures: [VictimOrder.Picture], cause: String, frames: Int
    ) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            var order = VictimOrder(path: directory.file("out.mkv"))
            order.pictures = pictures
            order.hasSound = false
            order.waits = true
            let report = try await Recording.run(order)
            let found = try await Judgement(of: order.path)
            var complaints = Complaints()
            let count = report.dropped[cause] ?? 0
            complaints.expect(
                count == pictures.count - frames, "\(count) counted as \(cause): \(report)")
            complaints.expect(
                found.frames == frames && report.written == frames,
                "\(found.frames) frames in the file, \(report.written) written of \(frames)")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            complaints.expect(found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
            return Finding(
                "\(pictures.count) frames: \(count) counted, \(found.frames) in the file",
                complaints: complaints.all)
        }
    }

    /// Checks each container, and combines the findings.
    private static func inEach(
        _ options: Options, _ isCopy: Bool = false,
        _ body: @escaping @Sendable (String, VictimOrder) async throws -> Finding
    ) async throws -> Finding {
        let findings = try await inTurns(options.containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(container)")
                // Blocks when the queue is full, because drops on a busy machine are not under
                // test.
                var order = VictimOrder(path: path)
                order.waits = true
                order.isCopy = isCopy
                order.hasSound = !isCopy
                return (container, try await body(container, order))
            }
        }
        let measured =
            Set(findings.map(\.1.measured)).count == 1
            ? "each: \(findings[0].1.measured)"
            : findings.map { "\($0): \($1.measured)" }.joined(separator: "; ")
        return Finding(
            measured,
            complaints: findings.filter { $1.verdict == .broken }.map { "\($0): \($1.measured)" })
    }

    private static func formatChange(
        _ options: Options, _ isCopy: Bool
    ) async throws -> Finding {
        try await inEach(options, isCopy) { _, empty in
            var order = empty
            order.pictures =
                VictimOrder.steady(40)
                + VictimOrder.steady(40, from: 4.0 / 3, width: 160, height: 120)
                + (isCopy
                    ? VictimOrder.steady(40, from: 8.0 / 3)
                    : VictimOrder.steady(40, from: 8.0 / 3, width: 160, height: 120, format: "NV12"))
            let report = try await Recording.run(order)
            var complaints = Complaints()
            complaints.expect(report.files.count == 3, "\(report.files.count) files")
            var frames = 0
            for (file, size) in zip(
                report.files, ["320x240", "160x120", isCopy ? "320x240" : "160x120"])
            {
                let found = try await Judgement(of: file.path)
                frames += found.frames
                complaints.expect(found.sizes == [size], "sizes in one file: \(found.sizes)")
                complaints.expect(
                    found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
                complaints.expect(
                    isCopy || found.soundEnd != nil, "no audio in \(file.path)")
            }
            complaints.expect(frames == 120, "\(frames) frames of 120 in the files")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            return Finding("3 files, \(frames) of 120 frames", complaints: complaints.all)
        }
    }

    private static func encoderFails(_ options: Options) async throws -> Finding {
        try await inEach(options) { _, empty in
            var order = empty
            // None of these encoders accepts so wide a frame.
            order.pictures =
                VictimOrder.steady(45) + VictimOrder.steady(15, from: 1.5, width: 20_000, height: 2)
            let report = try await Recording.run(order)
            let found = try await Judgement(of: order.path)
            var complaints = Complaints()
            complaints.expect(
                report.failure?.code == "streamFailed" && report.hasThrown
                    && report.ended == "error", "the error is missing: \(report)")
            let announced = try await MediaProbe(of: order.path).duration ?? 0
            complaints.expect(abs(announced - 1.5) < 0.3, "the file declares \(announced.text) s")
            complaints.expect(
                found.frames == 45, "\(found.frames) frames of 45 in the file")
            complaints.expectStop(options, report)
            complaints.expect(found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            return Finding(
                "\(report.failure?.code ?? ""), \(found.frames) of 45 frames play",
                complaints: complaints.all)
        }
    }

    private static func clock(
        _ options: Options, _ isCopy: Bool, jumpsBy jump: Double
    ) async throws -> Finding {
        try await inEach(options, isCopy) { _, empty in
            var order = empty
            order.pictures =
                VictimOrder.steady(45, from: 20) + VictimOrder.steady(45, from: 21.5 + jump)
            let report = try await Recording.run(order)
            let found = try await Judgement(of: order.path)
            var complaints = Complaints()
            complaints.expect(report.failure == nil, "error: \(report.failure?.message ?? "")")
            complaints.expect(
                found.frames == report.written && found.frames - report.repeated == 90,
                "\(found.frames) frames in the file, \(report.written) written, "
                    + "\(report.repeated) repeated, dropped \(report.dropped)")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            complaints.expect(found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
            let length = found.lastPicture - (found.firstPicture ?? 0)
            if jump < 0 { complaints.expect(length < 4, "the file is \(length.text) s long") }
            let times = try await MediaProbe.videoTimes(of: order.path)
            complaints.expect(
                zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "the frames are at \(times)")
            return Finding(
                "90 of 90 frames over \(Int(length.rounded())) s", complaints: complaints.all)
        }
    }
}
