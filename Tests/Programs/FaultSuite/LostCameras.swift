import Foundation
import TestSupport

/// Network cameras that disappear at random moments, and come back.
enum LostCameras {
    static let promises = [
        Promise(
            name: "camera-lost-copy",
            fault:
                "An RTSP camera is killed twice and restarts, each container for H.264, copied",
            text: "one file: all received frames from a keyframe on, bit-exact; the last frame "
                + "before a gap may be truncated"
        ) { try await check($0) }
    ]

    private static let containers = ["mkv", "mp4", "ts"]
    private static let runs = 3

    private static func check(_ options: Options) async throws -> Finding {
        var random = SeededGenerator(seed: options.seed &+ 2)
        let kept = options.isQuick ? Array(containers.prefix(1)) : containers
        let trials = kept.map { container in
            (container, (0..<runs).map { _ in Int.random(in: 300...1500, using: &random) })
        }
        let all = try await inTurns(trials, width: 1) { container, moments in
            try await record(container, moments)
        }
        func sum(_ count: (Remains) -> Int) -> Int { all.map(count).reduce(0, +) }
        return Finding(
            "\(all.count * (runs - 1)) kills: \(sum(\.same)) frames as they were sent, "
                + "\(sum(\.cutOff)) truncated; at most \(all.map(\.undelivered).max() ?? 0) were "
                + "still in transit",
            complaints: all.flatMap(\.complaints))
    }

    private struct Remains: Sendable {
        /// Recorded frames that equal the sent ones.
        var same = 0
        /// Truncated frames before a gap.
        var cutOff = 0
        /// The maximum number of frames that a camera sent and the recording did not receive.
        var undelivered = 0
        var complaints: [String] = []
    }

    /// The camera writes each frame to a file before it sends it.
    private static func camera(_ port: Int, keeping path: String) async throws -> RTSPCamera {
        try await RTSPCamera(
            port: port,
            "videotestsrc is-live=true pattern=snow "
                + "! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
                + "! x264enc tune=zerolatency threads=1 key-int-max=15 bitrate=4000 pass=cbr "
                + "! h264parse ! tee name=t ! video/x-h264,stream-format=byte-stream "
                + "! filesink buffer-mode=unbuffered location=\(path) "
                + "t. ! queue ! rtph264pay name=pay0 pt=96 config-interval=1 "
                + "aggregate-mode=zero-latency")
    }

    /// - Parameter moments: The time from the start of each camera's recording until it is killed,
    ///   in milliseconds.
    private static func record(_ container: String, _ moments: [Int]) async throws -> Remains {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            var order = VictimOrder(path: directory.file("out.\(container)"))
            order.capture =
                "rtspsrc location=\(RTSPCamera.url(port: port)) protocols=tcp latency=100 "
                + "! rtph264depay ! h264parse ! appsink name=video"
            order.isCopy = true
            order.hasSound = false
            order.restarts = true
            let sent = moments.indices.map { directory.file("sent-\($0).h264") }
            var camera = try await camera(port, keeping: sent[0])
            defer { camera.process.send(signal: SIGKILL) }
            let recording = try Recording(order)
            defer { recording.child.send(signal: SIGKILL) }
            var gaps: [Duration] = []
            for (index, moment) in moments.enumerated() {
                try await recording.untilItGrows()
                try await Task.sleep(for: .milliseconds(moment))
                guard index + 1 < moments.count else { break }
                let since = ContinuousClock.now
                try await camera.kill()
                try await Task.sleep(for: .milliseconds(500))
                camera = try await Self.camera(port, keeping: sent[index + 1])
                gaps.append(ContinuousClock.now - since)
            }
            recording.child.send(signal: SIGTERM)
            let report = try await recording.report()
            return try await judge(report, order.path, sent, gaps)
        }
    }

    private static func judge(
        _ report: VictimReport, _ path: String, _ sent: [String], _ gaps: [Duration]
    ) async throws -> Remains {
        var remains = Remains()
        var complaints = Complaints()
        complaints.expect(
            !report.hasThrown && report.ended == "stop",
            "ended by \(report.ended ?? "nothing"): \(report.failure?.message ?? "")")
        complaints.expect(report.files.count == 1, "\(report.files.count) files")
        complaints.expect(
            report.addsUp && Set(report.dropped.keys).isSubset(of: ["early"]),
            "the report does not add up: \(report)")
        let pictures = try await MediaProbe.pictures(of: path)
        complaints.expect(
            pictures.count == report.written,
            "\(pictures.count) frames of \(report.written) in the file")
        let times = try await MediaProbe.videoTimes(of: path)
        complaints.expect(
            zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "times go back: \(times)")
        // The frames that each camera sent, from the first recorded to the last.
        var rest = pictures[...]
        for (index, path) in sent.enumerated() {
            let sent = try await MediaProbe.pictures(of: path)
            let begin = sent.firstIndex(of: rest.first ?? "") ?? sent.endIndex
            let same = zip(sent[begin...], rest).prefix { $0 == $1 }.count
            complaints.expect(same > 0, "no frames of camera \(index) in the file")
            rest = rest.dropFirst(same)
            remains.same += same
            remains.undelivered = max(remains.undelivered, sent.count - begin - same)
            guard index < gaps.count, times.count == pictures.count else { continue }
            // A truncated frame is allowed only before a gap: the frame after the gap is the first
            // of the next camera.
            let gap = gaps[index] / .seconds(1) - 0.5
            if rest.startIndex < times.count,
                times[rest.startIndex] - times[rest.startIndex - 1] < gap
            {
                rest = rest.dropFirst()
                remains.cutOff += 1
            }
            let place = rest.startIndex
            complaints.expect(
                place < times.count && times[place] - times[place - 1] > gap,
                "no gap of \(gap.text) s after camera \(index)")
        }
        complaints.expect(rest.isEmpty, "\(rest.count) frames that no camera sent")
        remains.complaints = complaints.all.map { "\((path as NSString).pathExtension): \($0)" }
        return remains
    }
}

extension Recording {
    /// Returns when the file has grown by some frames. Polls, because another process writes the
    /// file.
    fileprivate func untilItGrows() async throws {
        func size() -> Int {
            let attributes = try? FileManager.default.attributesOfItem(atPath: order.path)
            return (attributes?[.size] as? Int) ?? 0
        }
        let (before, deadline) = (size(), ContinuousClock.now + Duration.hangLimit)
        while size() < before + 60_000 {
            guard ContinuousClock.now < deadline else {
                throw Trouble(description: "the file has stopped growing: \(child.errors)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
