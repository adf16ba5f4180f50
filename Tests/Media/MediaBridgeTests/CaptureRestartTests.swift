import Foundation
import Glibc
import MediaBridge
import TestSupport
import Testing

/// A live capture that ends and is restarted.
@Suite("Restarted captures", .hangGuard)
struct CaptureRestartTests {
    private static var policy: RestartPolicy {
        var policy = RestartPolicy()
        policy.delay = .milliseconds(1)
        policy.longestDelay = .milliseconds(2)
        return policy
    }

    @Test func timestampsContinueAcrossRestarts() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var plan = BridgePlan(
                capture: "videotestsrc is-live=true num-buffers=5 ! "
                    + "video/x-raw,format=I420,width=32,height=32,framerate=100/1 "
                    + "! appsink name=video "
                    + "audiotestsrc is-live=true num-buffers=5 samplesperbuffer=480 ! "
                    + "audio/x-raw,rate=48000,channels=1 ! appsink name=audio",
                outputs: [
                    "videoconvert ! jpegenc ! matroskamux ! filesink location=\(directory.file("j.mkv"))"
                ])
            plan.recordings = [BridgePlan.Recording(path: path, audio: AudioEncoding())]
            plan.restart = Self.policy
            let bridge = try Bridge(plan)
            let (restarts, restarted) = AsyncStream.makeStream(of: (Int, PipelineError).self)
            bridge.onEvent {
                if case .restarting(_, let attempt, _, let reason) = $0 {
                    restarted.yield((attempt, reason))
                }
            }
            var restart = restarts.makeAsyncIterator()
            async let ended = bridge.run()
            for run in 1...5 {
                let (attempt, reason) = try #require(await restart.next())
                // The capture never delivers for a second, so the attempt count is never reset.
                #expect(attempt == run)
                #expect(reason.code == .streamFailed)
            }
            bridge.stop()
            let report = try await ended.get()
            #expect(report.ended == .interrupt)
            expectBalanced(report)
            let counts = try #require(report.captures["video"])
            #expect(counts.frames + counts.dropped.total >= 25)
            let recorded = try #require(bridge.recorders[0].report.video?.written)
            let written = try #require(report.outputs["output"]?.frames)
            for (file, frames) in [(path, recorded), (directory.file("j.mkv"), written)] {
                let times = try await MediaProbe.videoTimes(of: file)
                #expect(times.count == frames && frames > 0)
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(file)")
            }
        }
    }

    @Test func reportsOutagesAndTheirEnds() async throws {
        var plan = BridgePlan(
            capture: "videotestsrc is-live=true num-buffers=5 ! "
                + "video/x-raw,width=32,height=32,framerate=100/1 ! appsink name=video "
                + "audiotestsrc is-live=true num-buffers=5 samplesperbuffer=480 ! "
                + "audio/x-raw,rate=48000 ! appsink name=audio",
            outputs: ["appsrc name=video ! fakesink", "appsrc name=audio ! fakesink"])
        plan.restart = Self.policy
        let bridge = try Bridge(plan)
        let (returns, returned) = AsyncStream.makeStream(of: Duration.self)
        bridge.onEvent { if case .resumed("video", let time) = $0 { returned.yield(time) } }
        var times = returns.makeAsyncIterator()
        async let ended = bridge.run()
        for _ in 1...3 { #expect(try #require(await times.next()) >= .zero) }
        bridge.stop()
        let report = await ended
        for stream in ["video", "audio"] {
            let counts = try #require(report.captures[stream])
            let (outages, restarts) = (try #require(counts.outages), counts.restarts)
            #expect(restarts >= 2 && counts.outageDuration >= .zero, "\(restarts) restarts")
            #expect(outages == restarts || outages == restarts + 1, "\(outages) outages")
        }
    }

    /// A live source that ends or fails after a number of frames, again and again. `COPIED=60 SEED=7` makes more
    /// cases.
    @Test func restartedSourceIsRecordedIntoOneFile() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["SEED"].flatMap { UInt64($0) } ?? 1
        var random = SeededGenerator(seed: seed)
        for number in 0..<(environment["COPIED"].flatMap { Int($0) } ?? 4) {
            let frames = Int.random(in: 1...12, using: &random)
            let fails = Bool.random(using: &random)
            let isCopied = Bool.random(using: &random)
            let hasSound = Bool.random(using: &random)
            let container = ["mkv", "mp4", "ts"].randomElement(using: &random)!
            let source =
                fails
                ? "videotestsrc is-live=true ! identity error-after=\(frames + 1)"
                : "videotestsrc is-live=true num-buffers=\(frames)"
            let capture =
                "\(source) ! video/x-raw,width=64,height=48,framerate=50/1"
                + (isCopied ? " ! x264enc tune=zerolatency threads=1 ! h264parse" : "")
                + (hasSound
                    ? " ! appsink name=video audiotestsrc is-live=true num-buffers=\(frames * 2) "
                        + "samplesperbuffer=480 ! audio/x-raw,rate=48000 ! appsink name=audio" : "")
            let title: Comment = "seed \(seed), case \(number): \(capture), \(container)"
            try await withTemporaryDirectory { directory in
                var plan = BridgePlan(capture: capture, outputs: [])
                let path = directory.file("out.\(container)")
                var configuration = Recorder.Configuration()
                if hasSound { configuration.audio = AudioEncoding() }
                plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
                plan.restart = Self.policy
                plan.frameLimit = 30
                let report = try await Bridge(plan).run().get()
                expectBalanced(report)
                #expect(report.ended == .frames, title)
                let counts = try #require(report.captures["video"])
                let offered = counts.frames + counts.dropped.total
                #expect(counts.restarts >= (offered - 1) / frames, "\(title): \(report)")
                let times = try await MediaProbe.videoTimes(of: path)
                #expect(times.count == counts.frames, "\(title): \(times.count), \(report)")
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(title): \(times)")
            }
        }
    }

    @Test func waitsForAServerThatDoesNotAnswerYet() async throws {
        let port = try FreePort.tcp()
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(
                capture: "tcpclientsrc host=127.0.0.1 port=\(port) ! gdpdepay")
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.mkv"))]
            plan.restart = Self.policy
            plan.frameLimit = 10
            let bridge = try Bridge(plan)
            let (waits, waited) = AsyncStream.makeStream(of: PipelineError.self)
            bridge.onEvent {
                if case .waiting(_, _, let reason) = $0 { waited.yield(reason) }
            }
            var wait = waits.makeAsyncIterator()
            async let ended = bridge.run()
            for _ in 1...3 {
                let reason = try #require(await wait.next())
                #expect(reason.debug?.contains("Connection refused") == true, "\(reason)")
            }
            let server = try Bridge(
                BridgePlan(
                    capture: "videotestsrc is-live=true ! "
                        + "video/x-raw,format=I420,width=32,height=32,framerate=100/1",
                    outputs: ["gdppay ! tcpserversink host=127.0.0.1 port=\(port)"]))
            async let served = server.run()
            let report = await ended
            server.stop()
            _ = await served
            #expect(report.failures.isEmpty && report.ended == .frames, "\(report)")
            #expect(try await MediaProbe(of: directory.file("out.mkv")).video?.frames == 10)
        }
    }

    @Test func missingDeviceDoesNotKeepTheRunFromEnding() async throws {
        var plan = BridgePlan(
            capture: "v4l2src device=/dev/video987 ! videoconvert", outputs: ["fakesink"])
        plan.restart = Self.policy
        let bridge = try Bridge(plan)
        bridge.onEvent { if case .waiting = $0 { bridge.stop() } }
        let report = await bridge.run()
        #expect(report.ended == .interrupt && report.failures.isEmpty)
    }

    @Test(arguments: [
        "filesrc location=/does/not/exist ! decodebin",
        "videotestsrc is-live=true ! identity error-after=1",
    ])
    func invalidStringIsNotRetried(capture: String) async throws {
        var plan = BridgePlan(capture: capture, outputs: ["fakesink"])
        plan.restart = Self.policy
        let report = try await Bridge(plan).run()
        #expect(report.ended == .error && report.failures.count == 1, "\(report)")
    }

    @Test func endedFileIsNotRestarted() async throws {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=10 ! video/x-raw,width=32,height=32",
            outputs: ["fakesink"])
        plan.restart = Self.policy
        let bridge = try Bridge(plan)
        let warnings = Observed([String]())
        bridge.onEvent { event in
            if case .warned(let warning) = event { warnings.change { $0.append(warning.message) } }
        }
        let report = try await bridge.run().get()
        #expect(report.ended == .eos)
        #expect(report.captures["video"]?.frames == 10)
        #expect(warnings.value.contains { $0.contains("is not restarted") }, "\(warnings.value)")
    }

    @Test func restartsAConnectionThatEnds() async throws {
        let port = try FreePort.tcp()
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: "tcpclientsrc host=127.0.0.1 port=\(port) ! gdpdepay")
            let path = directory.file("out.mkv")
            plan.recordings = [BridgePlan.Recording(path: path)]
            plan.restart = Self.policy
            plan.frameLimit = 15
            let bridge = try Bridge(plan)
            let returns = Observed(0)
            bridge.onEvent { if case .resumed = $0 { returns.change { $0 += 1 } } }
            let isOver = Observed(false)
            async let ended = {
                defer { isOver.change { $0 = true } }
                return await bridge.run()
            }()
            // Each server closes the connection with its end, after ten frames at most.
            while !isOver.value {
                _ = try await Bridge(
                    BridgePlan(
                        capture: "videotestsrc is-live=true num-buffers=10 ! "
                            + "video/x-raw,format=I420,width=32,height=32,framerate=20/1",
                        outputs: ["gdppay ! tcpserversink host=127.0.0.1 port=\(port) sync=false"])
                ).run()
            }
            let report = await ended
            #expect(report.failures.isEmpty, "\(report)")
            expectBalanced(report)
            let counts = try #require(report.captures["video"])
            #expect(counts.restarts > 0, "\(report)")
            #expect(counts.restarts <= returns.value, "\(report)")
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == counts.frames)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        }
    }

    @Test func restartsFromSharedMemoryWhileAFrameIsKept() async throws {
        try await withTemporaryDirectory { directory in
            let socket = directory.file("socket")
            // shmsink 1.22 stops for ever once its memory was full.
            let peer = {
                try ChildProcess(
                    "gst-launch-1.0",
                    "-q videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48 ! shmsink socket-path=\(socket) shm-size=10000000 wait-for-connection=true"
                        .split(separator: " ").map(String.init))
            }
            var plan = BridgePlan(
                capture: "shmsrc socket-path=\(socket) is-live=true do-timestamp=true ! "
                    + "video/x-raw,format=I420,width=64,height=48,framerate=30/1",
                outputs: ["fakesink"])
            plan.restart = Self.policy
            let frames = Observed([VideoFrame]())
            plan.processors = [KeepingProcessor(frames)]
            let bridge = try Bridge(plan)
            let first = try peer()
            async let ended = bridge.run()
            await frames.wait { $0.count >= 5 }
            first.send(signal: SIGKILL)
            _ = try await first.end()
            let count = frames.value.count
            // shmsink does not replace a socket of a process that was killed.
            #expect(unlink(socket) == 0)
            let second = try peer()
            await frames.wait { $0.count >= count + 20 }
            bridge.stop()
            #expect(await ended.failures.isEmpty)
            second.send(signal: SIGKILL)
            _ = try await second.end()
        }
    }

    /// Keeps the first frames.
    private final class KeepingProcessor: VideoProcessor, Sendable {
        private let frames: Observed<[VideoFrame]>

        init(_ frames: Observed<[VideoFrame]>) { self.frames = frames }

        func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
            let kept = frame
            frames.change { $0.append(kept) }
            return kept
        }
    }

    @Test func restartOfACaptureThatWritesFilesIsRefused() throws {
        var plan = BridgePlan(
            capture: "videotestsrc is-live=true ! tee name=t ! queue ! filesink location=/dev/null "
                + "t. ! queue ! appsink name=video")
        plan.restart = Self.policy
        let error = #expect(throws: PipelineError.self) { try Bridge(plan) }
        #expect(error?.message.contains("overwrite the files of the first run") == true)
    }
}
