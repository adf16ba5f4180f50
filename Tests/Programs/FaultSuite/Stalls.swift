import Foundation
import Glibc
import TestSupport

/// Disks that do not respond, and readers that close the pipe.
enum Stalls {
    static let promises = Subject.kinds.flatMap { isCopy in
        [
            Promise(
                name: "fifo-unread", fault: "A FIFO without a reader", isCopy: isCopy,
                text: "a stall event; stop ends in time and reports *stuck*; the preview goes on"
            ) { try await stalled($0, opensReader: false, isCopy) },
            Promise(
                name: "fifo-stalled", fault: "A FIFO whose reader reads nothing", isCopy: isCopy,
                text: "a stall event; stop ends in time and reports *stuck*; the preview goes on"
            ) { try await stalled($0, opensReader: true, isCopy) },
            Promise(
                name: "fifo-waiting", fault: "The same, with callers that wait",
                isCopy: isCopy, text: "stop ends in time, reports *stuck* and unblocks the callers"
            ) { try await waiting($0, isCopy) },
            Promise(
                name: "disk-slow", fault: "A disk that takes 4 kB in 0 to 0.4 s", isCopy: isCopy,
                text: "stop ends within a minute and reports *too slow*; the preview goes on"
            ) { try await slow($0, isCopy) },
            Promise(
                name: "closed-pipe", fault: "A pipe whose reader exits", isCopy: isCopy,
                text: "a typed error; the process and its preview go on"
            ) { try await closedPipe($0, isCopy) },
        ]
    }

    private static let stallTimeout = 1.5
    /// How long stop may take beyond its timeout for cleaning up.
    private static let grace = 10.0

    private static func fifo(
        in directory: TemporaryDirectory, _ subject: Subject, _ options: Options, rate: Int = 30
    ) throws -> VictimOrder {
        let path = directory.file("out.\(subject.container)")
        guard mkfifo(path, 0o600) == 0 else { throw Trouble(description: "no FIFO: \(errno)") }
        let camera = Camera(pattern: "snow", rate: rate, bitrate: 4_000_000)
        var order = VictimOrder(camera, as: subject, into: path)
        order.hasPreview = true
        order.stopAfter = options.frames
        order.stallTimeout = stallTimeout
        return order
    }

    private static func stalled(
        _ options: Options, opensReader: Bool, _ isCopy: Bool
    ) async throws -> Finding {
        let findings = try await inTurns(options.subjects(isCopy), width: 2) { subject in
            try await withTemporaryDirectory { directory in
                let order = try fifo(in: directory, subject, options)
                let reader = opensReader ? open(order.path, O_RDONLY | O_NONBLOCK) : -1
                defer { if reader >= 0 { close(reader) } }
                let report = try await Recording.run(order)
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "deadlineExceeded"
                        && report.failure?.message.contains("stuck") == true,
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was reported as success")
                complaints.expect(report.events.contains("stalled"), "no stall event")
                complaints.expectStop(within: stallTimeout + grace, options, report)
                complaints.expectPreview(options, in: report)
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (report, complaints.all.map { "\(subject.container): \($0)" })
            }
        }
        return Finding(
            "stop took at most \((findings.map(\.0.stopSeconds).max() ?? 0).text) s with a timeout of "
                + "\(stallTimeout.text) s; \(preview(findings.map(\.0), options))",
            complaints: findings.flatMap(\.1))
    }

    private static func waiting(_ options: Options, _ isCopy: Bool) async throws -> Finding {
        let findings = try await inTurns(options.subjects(isCopy), width: 2) { subject in
            try await withTemporaryDirectory { directory in
                // Several hundred frames queue up for the file before the caller blocks.
                let rate = isCopy ? 300 : 30
                var order = try fifo(in: directory, subject, options, rate: rate)
                order.waits = true
                order.hasPreview = false
                let reader = open(order.path, O_RDONLY | O_NONBLOCK)
                defer { if reader >= 0 { close(reader) } }
                let recording = try Recording(order)
                defer { recording.child.send(signal: SIGKILL) }
                // The processor that counts frames to the stop blocks too; the signal does not.
                try await recording.untilTold("stalled")
                try await recording.untilNothingIsOffered()
                recording.child.send(signal: SIGTERM)
                let report = try await recording.report()
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "deadlineExceeded"
                        && report.failure?.message.contains("stuck") == true,
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was reported as success")
                complaints.expectStop(within: stallTimeout + grace, options, report)
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (report.stopSeconds, complaints.all.map { "\(subject.container): \($0)" })
            }
        }
        return Finding(
            "stop took at most \((findings.map(\.0).max() ?? 0).text) s with a timeout of "
                + "\(stallTimeout.text) s", complaints: findings.flatMap(\.1))
    }

    private static func slow(_ options: Options, _ isCopy: Bool) async throws -> Finding {
        let findings = try await inTurns(options.subjects(isCopy), width: 2) { subject in
            try await withTemporaryDirectory { directory in
                var order = try fifo(in: directory, subject, options)
                order.stallTimeout = 10
                let path = order.path
                let recording = try Recording(order)
                defer { recording.child.send(signal: SIGKILL) }
                Thread.detachNewThread {
                    var random = SeededGenerator(seed: options.seed)
                    let disk = open(path, O_RDONLY)
                    var bytes = [UInt8](repeating: 0, count: 4096)
                    while read(disk, &bytes, bytes.count) > 0 {
                        usleep(UInt32.random(in: 0...400_000, using: &random))
                    }
                    close(disk)
                }
                let report = try await recording.report()
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "deadlineExceeded"
                        && report.failure?.message.contains("too slow") == true,
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was reported as success")
                complaints.expectStop(within: 60, options, report)
                complaints.expectPreview(options, in: report)
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (report, complaints.all.map { "\(subject.container): \($0)" })
            }
        }
        return Finding(
            "stop took at most \((findings.map(\.0.stopSeconds).max() ?? 0).text) s; "
                + preview(findings.map(\.0), options),
            complaints: findings.flatMap(\.1))
    }

    private static func closedPipe(_ options: Options, _ isCopy: Bool) async throws -> Finding {
        let findings = try await inTurns(options.subjects(isCopy), width: 2) { subject in
            try await withTemporaryDirectory { directory in
                let order = try fifo(in: directory, subject, options)
                let recording = try Recording(order)
                defer { recording.child.send(signal: SIGKILL) }
                // Reads 100,000 bytes, and closes the pipe.
                _ = try await Tool.run("head", ["-c", "100000", order.path])
                let report = try await recording.report()
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "resourceFailed"
                        || report.failure?.code == "streamFailed",
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was reported as success")
                complaints.expectStop(options, report)
                complaints.expectPreview(options, in: report)
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (report, complaints.all.map { "\(subject.container): \($0)" })
            }
        }
        let codes = Set(findings.compactMap(\.0.failure?.code)).sorted().joined(separator: ", ")
        return Finding(
            "\(codes) for each; \(preview(findings.map(\.0), options))",
            complaints: findings.flatMap(\.1))
    }

    private static func preview(_ reports: [VictimReport], _ options: Options) -> String {
        "preview at least \(reports.map(\.preview).min() ?? 0) of \(options.frames)"
    }
}
