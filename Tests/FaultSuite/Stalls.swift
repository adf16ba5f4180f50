import Foundation
import Glibc
import TestSupport

/// Disks that do not answer, and readers that go.
enum Stalls {
    static let promises = [
        Promise(
            name: "fifo-unread", fault: "A FIFO that nobody opens",
            text: "told as stalled; stop ends in time and says *stuck*; the preview goes on"
        ) { try await stalled($0, opensReader: false) },
        Promise(
            name: "fifo-stalled", fault: "A FIFO whose reader stands still",
            text: "told as stalled; stop ends in time and says *stuck*; the preview goes on"
        ) { try await stalled($0, opensReader: true) },
        Promise(
            name: "fifo-waiting", fault: "The same, and whoever hands frames over waits",
            text: "stop ends in time and says *stuck*, and lets go of who waits"
        ) { try await waiting($0) },
        Promise(
            name: "closed-pipe", fault: "A pipe whose reader goes away",
            text: "a typed error; the process and its preview go on"
        ) { try await closedPipe($0) },
    ]

    private static let stallTimeout = 1.5
    /// What stop may take beyond its timeout until everything is put away.
    private static let grace = Duration.seconds(10).onThisMachine / .seconds(1)

    private static func fifo(
        in directory: TemporaryDirectory, _ container: String, _ options: Options
    ) throws -> VictimOrder {
        let path = directory.file("out.\(container)")
        guard mkfifo(path, 0o600) == 0 else { throw Trouble(description: "no FIFO: \(errno)") }
        var order = VictimOrder(path: path)
        order.capture = VictimOrder.cameraAndMicrophone(pattern: "snow")
        order.bitrate = 4_000_000
        order.hasPreview = true
        order.stopAfter = options.frames
        order.stallTimeout = stallTimeout
        return order
    }

    private static func stalled(_ options: Options, opensReader: Bool) async throws -> Finding {
        let findings = try await inTurns(options.containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                let order = try fifo(in: directory, container, options)
                let reader = opensReader ? open(order.path, O_RDONLY | O_NONBLOCK) : -1
                defer { if reader >= 0 { close(reader) } }
                let report = try await Recording.run(order)
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "deadlineExceeded"
                        && report.failure?.message.contains("stuck") == true,
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was called a success")
                complaints.expect(report.events.contains("stalled"), "nobody told that it stalls")
                complaints.expect(
                    report.stopSeconds < stallTimeout + grace,
                    "stop took \(report.stopSeconds.text) s with a timeout of \(stallTimeout.text) s"
                )
                complaints.expectPreview(of: options.frames, in: report)
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (container, report.stopSeconds, complaints.all.map { "\(container): \($0)" })
            }
        }
        return Finding(
            "stop took \((findings.map(\.1).max() ?? 0).text) s at most with a timeout of "
                + "\(stallTimeout.text) s; all of the preview's frames",
            complaints: findings.flatMap(\.2))
    }

    private static func waiting(_ options: Options) async throws -> Finding {
        let findings = try await inTurns(options.containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                var order = try fifo(in: directory, container, options)
                order.waits = true
                order.hasPreview = false
                let reader = open(order.path, O_RDONLY | O_NONBLOCK)
                defer { if reader >= 0 { close(reader) } }
                let recording = try Recording(order)
                defer { recording.child.send(signal: SIGKILL) }
                // The processor that counts to the stop waits with everybody else: the signal does not.
                try await recording.child.waitForOutput("event stalled")
                recording.child.send(signal: SIGTERM)
                let report = try await recording.report()
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "deadlineExceeded",
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was called a success")
                complaints.expect(
                    report.stopSeconds < stallTimeout + grace,
                    "stop took \(report.stopSeconds.text) s with a timeout of \(stallTimeout.text) s"
                )
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (report.stopSeconds, complaints.all.map { "\(container): \($0)" })
            }
        }
        return Finding(
            "stop took \((findings.map(\.0).max() ?? 0).text) s at most with a timeout of "
                + "\(stallTimeout.text) s", complaints: findings.flatMap(\.1))
    }

    private static func closedPipe(_ options: Options) async throws -> Finding {
        let findings = try await inTurns(options.containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                let order = try fifo(in: directory, container, options)
                let recording = try Recording(order)
                defer { recording.child.send(signal: SIGKILL) }
                // Reads some, and goes.
                _ = try await Tool.run("head", ["-c", "100000", order.path])
                let report = try await recording.report()
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "resourceFailed"
                        || report.failure?.code == "streamFailed",
                    "error: \(report.failure?.code ?? "none"), \(report.failure?.message ?? "")")
                complaints.expect(
                    report.hasThrown && report.ended == "error", "the end was called a success")
                complaints.expectPromptStop(report)
                complaints.expectPreview(of: options.frames, in: report)
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                return (report.failure?.code ?? "", complaints.all.map { "\(container): \($0)" })
            }
        }
        return Finding(
            "\(Set(findings.map(\.0)).sorted().joined(separator: ", ")) in each; all of the "
                + "preview's frames", complaints: findings.flatMap(\.1))
    }
}
