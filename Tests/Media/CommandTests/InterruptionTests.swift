import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Ctrl-C, SIGTERM and SIGHUP complete the files; a second Ctrl-C or SIGTERM aborts.
    @Suite(.hangGuard) struct InterruptionTests {
        private static let live =
            "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP], ["mp4mux", "matroskamux"])
        func aSignalCompletesTheRecording(signal: Int32, muxer: String) async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file(muxer == "mp4mux" ? "out.mp4" : "out.mkv")
                let encode = "videoconvert ! x264enc speed-preset=ultrafast ! h264parse"
                let ended = try await GstBridge.start(
                    capture: Self.live,
                    outputs: ["\(encode) ! \(muxer) ! filesink location=\(file)"],
                    ["--progress", "always"]
                ) { child in
                    try await child.waitForErrors(to: "count frames") { Self.framesSoFar($0) > 0 }
                    child.send(signal: signal)
                    return Ended(try await child.end())
                }
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("finishing"))
                let report = try ended.report
                #expect(report.ended == "interrupt")
                #expect(report.only.frames > 0)
                #expect(report.only.dropped + report.only.frames == report.capture.frames)
                #expect(try await MediaProbe(of: file).video?.frames == report.only.frames)
            }
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func secondSignalAbortsImmediately(signal: Int32) async throws {
            // The only frame in flight takes an hour.
            let ended = try await GstBridge.start(
                capture: Self.live,
                outputs: ["identity sleep-time=3600000000 ! fakesink sync=false"],
                ["--progress", "always"]
            ) { child in
                try await child.waitForErrors(to: "count frames") { Self.framesSoFar($0) > 0 }
                child.send(signal: signal)
                // Two signals within a tenth of a second count as one; progress comes once a second.
                try await child.waitForErrors(to: "go on finishing") { text in
                    guard let start = text.range(of: "finishing") else { return false }
                    return text[start.upperBound...].split(separator: "\n")
                        .filter { $0.contains(" fps ") }.count >= 2
                }
                child.send(signal: signal)
                return Ended(try await child.end())
            }
            #expect(ended.status == 130, "\(ended.errors)")
        }

        @Test func repeatedHangupSignalsDoNotAbortTheRecording() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.mkv")
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "record", "--capture", Self.live, path, "--progress", "always", "--report",
                        "json",
                    ]
                ) { child in
                    try await child.waitForErrors(to: "count frames") { Self.framesSoFar($0) > 0 }
                    child.send(signal: SIGHUP)
                    try await child.waitForErrors(to: "finish") { $0.contains("finishing") }
                    child.send(signal: SIGHUP)
                    return Ended(try await child.end())
                }
                #expect(ended.status == 0, "\(ended.errors)")
                let frames = try ended.report.outputs["recording"]?.frames
                #expect(try await MediaProbe(of: path).video?.frames == frames)
                // Only a completed file has a duration.
                #expect(try await MediaProbe(of: path).duration != nil)
            }
        }

        @Test func signalIgnoredAtStartStaysIgnored() async throws {
            let ended = try await withChildProcess(
                "nohup",
                [
                    Tool.gstBridge, "run", "--capture", Self.live, "--output", "fakesink",
                    "--progress", "always", "--report", "json",
                ]
            ) { child in
                try await child.waitForErrors(to: "count frames") { Self.framesSoFar($0) > 0 }
                child.send(signal: SIGHUP)
                let before = Self.framesSoFar(child.errors)
                try await child.waitForErrors(to: "go on") { Self.framesSoFar($0) > before }
                child.send(signal: SIGTERM)
                return Ended(try await child.end())
            }
            #expect(ended.status == 0, "\(ended.errors)")
        }

        /// Reads the count from the last progress line.
        static func framesSoFar(_ progress: String) -> Int {
            let line = progress.split(separator: "\n").last { $0.contains(" fps ") }
            return line?.split(separator: " ").first.flatMap { Int($0) } ?? 0
        }
    }
}
