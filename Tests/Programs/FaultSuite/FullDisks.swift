import Foundation
import TestSupport

/// Disks that fill up: a tmpfs in a mount namespace of the victim, which leaves nothing behind.
enum FullDisks {
    static let promises =
        Subject.all.map { subject in
            Promise(
                name: "disk-nearly-full-\(subject.name)",
                fault: "Disk nearly full, \(subject.title)",
                text: "an event, then a complete file; the preview goes on"
            ) { try await nearlyFull(subject, $0) }
        }
        + Subject.all.map { subject in
            Promise(
                name: "disk-full-\(subject.name)", fault: "Disk full, \(subject.title)",
                text: "a typed error; the written part plays; the preview goes on"
            ) { try await full(subject, $0, reserve: 0, fillAfter: 0, megabytes: 2) }
        }
        + Subject.kinds.flatMap { isCopy in
            [
                Promise(
                    name: "disk-filled", fault: "Another writer fills the disk, mkv",
                    isCopy: isCopy,
                    text: "a typed error; the written part plays; the preview goes on"
                ) {
                    let subject = Subject(container: "mkv", isCopy: isCopy)
                    return try await full(subject, $0, reserve: -1, fillAfter: 40, megabytes: 20)
                },
                Promise(
                    name: "disk-too-full", fault: "Disk too full to begin, each container",
                    isCopy: isCopy, text: "a typed error that states the cause; no file"
                ) { try await tooFull($0, isCopy) },
                Promise(
                    name: "size-limit", fault: "File size limit (RLIMIT_FSIZE), each container",
                    isCopy: isCopy,
                    text: "a typed error; the written part plays; the preview goes on"
                ) { try await sizeLimit($0, isCopy) },
            ]
        }
        + [
            Promise(
                name: "disk-ring", fault: "A ring of segments on a small disk, 40,000 frames",
                text: "the recording goes on; the disk is never reported as full"
            ) { try await ring($0) }
        ]

    private static func order(
        _ path: String, _ subject: Subject, _ options: Options, bitrate: Int = 8_000_000
    ) -> VictimOrder {
        let camera = Camera(pattern: "snow", bitrate: bitrate)
        var order = VictimOrder(camera, as: subject, into: path)
        order.hasPreview = true
        // A busy machine would evict frames before the encoder, and never fill the disk.
        order.waits = options.isQuick
        order.stopAfter = options.frames
        return order
    }

    private static func nearlyFull(
        _ subject: Subject, _ options: Options
    ) async throws -> Finding {
        try await onSmallDisk(subject.container, megabytes: 6) { path, run in
            // The disk is nearly full after some 30 frames, which even a busy machine records before the
            // stop.
            let order = order(path.inside, subject, options, bitrate: 16_000_000)
            let report = try await run(order)
            let found = try await Judgement(of: path.outside)
            var complaints = Complaints()
            complaints.expect(
                report.ended == "diskNearlyFull", "ended by \(report.ended ?? "nothing")")
            let warning = report.events.firstIndex(of: "diskNearlyFull")
            let finish = report.events.firstIndex(of: "fileFinished")
            complaints.expect(
                warning != nil && finish != nil && warning! < finish!,
                "events: \(report.events.joined(separator: ", "))")
            complaints.expect(found.complaints.isEmpty, "ffprobe: \(found.complaints.first ?? "")")
            complaints.expect(
                found.frames == report.written && found.frames > 10,
                "\(found.frames) frames of \(report.written) in the file")
            let announced = try await MediaProbe(of: path.outside).duration ?? 0
            complaints.expect(
                abs(announced - found.length) < 0.3,
                "the file declares \(announced.text) s of \(found.length.text) s")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            complaints.expectPreview(options, in: report)
            complaints.expect(report.hasThrown, "the end was reported as success")
            return Finding(
                "\(found.frames) of \(report.written) frames in a complete file, preview "
                    + "\(report.preview) of \(options.frames)", complaints: complaints.all)
        }
    }

    private static func full(
        _ subject: Subject, _ options: Options, reserve: Int, fillAfter: Int, megabytes: Int
    ) async throws -> Finding {
        try await onSmallDisk(subject.container, megabytes: megabytes) { path, run in
            var order = order(path.inside, subject, options)
            order.reserve = reserve
            order.fillAfter = fillAfter
            let report = try await run(order)
            return try await failed(report, path.outside, options, codes: ["noSpaceLeft"])
        }
    }

    private static func tooFull(_ options: Options, _ isCopy: Bool) async throws -> Finding {
        let findings = try await inTurns(options.subjects(isCopy), width: 1) { subject in
            try await onSmallDisk(subject.container, megabytes: 2) { path, run in
                let order = VictimOrder(Camera(frames: 20), as: subject, into: path.inside)
                let report = try await run(order)
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "noSpaceLeft"
                        && report.failure?.message.contains("nothing was recorded") == true,
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was reported as success")
                complaints.expect(
                    report.files.isEmpty && report.events.last == "finished",
                    "files: \(report.files.map(\.path)), events: \(report.events)")
                complaints.expect(
                    !FileManager.default.fileExists(atPath: path.outside), "a file exists")
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return Finding(report.failure?.code ?? "", complaints: complaints.all)
            }
        }
        return findings.first { $0.verdict != .kept }
            ?? Finding("noSpaceLeft for each, no file")
    }

    private static func ring(_ options: Options) async throws -> Finding {
        try await onSmallDisk("mkv", megabytes: 6) { path, run in
            var order = VictimOrder(path: path.inside)
            order.fast = 40_000
            order.hasSound = false
            order.segment = 10
            order.keep = 2
            let report = try await run(order)
            var complaints = Complaints()
            complaints.expect(
                report.ended == "stop" && !report.hasThrown,
                "ended by \(report.ended ?? "nothing"): \(report.failure?.message ?? "")")
            complaints.expect(
                report.written == 40_000 && report.files.count == 2,
                "\(report.written) frames written, \(report.files.count) files")
            return Finding(
                "\(report.written) frames written, the last \(report.files.count) files kept",
                complaints: complaints.all)
        }
    }

    private static func sizeLimit(_ options: Options, _ isCopy: Bool) async throws -> Finding {
        let findings = try await inTurns(options.subjects(isCopy), width: 2) { subject in
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(subject.container)")
                var order = order(path, subject, options)
                order.sizeLimit = 1_000_000
                let report = try await Recording.run(order)
                let finding = try await failed(
                    report, order.path, options, codes: ["resourceFailed", "noSpaceLeft"])
                return (subject.container, finding)
            }
        }
        return Finding(
            findings.map { "\($0): \($1.measured)" }.joined(separator: "; "),
            complaints: findings.filter { $1.verdict == .broken }.map { "\($0): \($1.measured)" })
    }

    /// Checks the result when the disk is full.
    private static func failed(
        _ report: VictimReport, _ path: String, _ options: Options, codes: Set<String>
    ) async throws -> Finding {
        let found = try await Judgement(of: path)
        var complaints = Complaints()
        let code = report.failure?.code ?? "none"
        complaints.expect(codes.contains(code), "error: \(code), \(report.failure?.message ?? "")")
        complaints.expect(
            report.hasThrown && report.ended == "error", "the end was reported as success")
        complaints.expect(report.addsUp, "the report does not add up: \(report)")
        complaints.expectPreview(options, in: report)
        complaints.expectStop(options, report)
        // A last frame that was written in part may be decoded or not.
        complaints.expect(
            abs(report.written - found.frames) <= 1 && found.frames > 10,
            "\(found.frames) frames play, \(report.written) are reported")
        return Finding(
            "\(code); \(found.frames) frames play, \(report.written) reported, "
                + "preview \(report.preview) of \(options.frames)", complaints: complaints.all)
    }

    private struct Place: Sendable {
        /// The path for the victim, on the small disk.
        var inside: String
        /// The same file after the victim has exited.
        var outside: String
    }

    private static func onSmallDisk(
        _ container: String, megabytes: Int,
        _ body: (Place, _ run: (VictimOrder) async throws -> VictimReport) async throws -> Finding
    ) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory.file("disk"), withIntermediateDirectories: false)
            let disk = SmallDisk(megabytes: megabytes, at: directory.file("disk"))
            if let reason = try await disk.missing() { return .skipped(reason) }
            let place = Place(
                inside: directory.file("disk/out.\(container)"),
                outside: directory.file("out.\(container)"))
            return try await body(place) { order in
                try await Recording.run(order, prefix: disk.command(saving: order.path, directory))
            }
        }
    }
}
