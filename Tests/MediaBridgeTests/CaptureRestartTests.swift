import Foundation
import MediaBridge
import TestSupport
import Testing

/// A live capture that ends or fails, and is started again.
@Suite("Captures that are started again", .deadline(minutes: 3))
struct CaptureRestartTests {
    /// A policy that does not keep a test waiting.
    private static var policy: RestartPolicy {
        var policy = RestartPolicy()
        policy.delay = .milliseconds(20)
        policy.longestDelay = .milliseconds(200)
        return policy
    }

    /// A camera on the network, to be started again.
    private static func plan(port: Int, outputs: [String] = []) -> BridgePlan {
        var plan = BridgePlan(capture: capture(port: port), outputs: outputs)
        plan.restart = policy
        return plan
    }

    private static func capture(port: Int) -> String {
        "rtspsrc location=\(RTSPCamera.url(port: port)) protocols=tcp latency=100 "
            + "! rtph264depay ! h264parse"
    }

    /// The restarts of a bridge as they are told.
    private static func restarts(of bridge: Bridge) -> AsyncStream<(Int, PipelineError)> {
        let (stream, continuation) = AsyncStream.makeStream(of: (Int, PipelineError).self)
        bridge.onEvent {
            if case .restarting(_, let attempt, _, let reason) = $0 {
                continuation.yield((attempt, reason))
            }
        }
        return stream
    }

    /// Waits until a bridge has got so many more samples of a stream.
    private static func next(_ count: Int, of bridge: Bridge, stream: String = "video") async throws
    {
        func frames() -> Int { bridge.statistics.captures[stream]?.frames ?? 0 }
        let before = frames()
        while frames() < before + count { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// A camera that gives H.264, with a key picture in ten, and writes what it gives into a file
    /// before it sends it. A picture is one packet, so that none is cut off when the camera is
    /// killed.
    private static func camera(port: Int, keeping path: String) async throws -> RTSPCamera {
        try await RTSPCamera(
            port: port,
            "videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=30/1 "
                + "! x264enc tune=zerolatency threads=1 key-int-max=10 ! h264parse ! tee name=t "
                + "! video/x-h264,stream-format=byte-stream "
                + "! filesink buffer-mode=unbuffered location=\(path) "
                + "t. ! queue ! rtph264pay name=pay0 pt=96 config-interval=1 mtu=60000 "
                + "aggregate-mode=zero-latency")
    }

    @Test(arguments: ["mkv", "mp4", "ts"])
    func aCameraThatIsKilledTwiceIsRecordedWithoutEncoding(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            let path = directory.file("out.\(ending)")
            var plan = Self.plan(port: port)
            plan.recordings = [BridgePlan.Recording(path: path)]
            let bridge = try Bridge(plan)
            var restarts = Self.restarts(of: bridge).makeAsyncIterator()
            let files = (0..<3).map { directory.file("sent-\($0).h264") }
            var camera = try await Self.camera(port: port, keeping: files[0])
            defer { camera.process.send(signal: SIGKILL) }
            async let ended = bridge.run()
            try await Self.next(25, of: bridge)
            for file in files.dropFirst() {
                try await camera.kill()
                #expect(await restarts.next() != nil)
                camera = try await Self.camera(port: port, keeping: file)
                try await Self.next(25, of: bridge)
            }
            bridge.stop()
            let report = try await ended.get()
            expectBalanced(report)
            let recorded = bridge.recorders[0].report
            #expect(recorded.files.count == 1)
            let track = try #require(recorded.video)
            #expect(track.encoder == "copy")
            let pictures = try await MediaProbe.pictures(of: path)
            #expect(pictures.count == track.written)
            // What each camera sent, from the first picture that came to the last, and nothing else.
            var rest = pictures[...]
            for file in files {
                let sent = try await MediaProbe.pictures(of: file)
                let begin = try #require(sent.firstIndex(of: rest.first ?? ""))
                let same = zip(sent[begin...], rest).prefix { $0 == $1 }.count
                #expect(same >= 10)
                rest = rest.dropFirst(same)
            }
            #expect(rest.isEmpty)
            // The gap is as long as the camera was away, and nothing lies in the past.
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        }
    }

    @Test func aLoopOverACameraThatIsSwitchedOffEndsWithItsUnits() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            let source = try PipelineVideoSource(Self.capture(port: port))
            var count = 0
            for try await unit in source.units() {
                #expect(unit.liveTiming != nil && (count > 0 || unit.isKeyFrame))
                count += 1
                if count == 10 { try await camera.kill() }
            }
            #expect(count >= 10)
            expectBalanced(source.statistics.balance)
        }
    }

    @Test func framesOfManyRunsContinueOnTheClock() async throws {
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
            plan.recordings = [BridgePlan.Recording(path: path)]
            plan.recordings[0].configuration.audio = AudioEncoding()
            plan.restart = Self.policy
            let bridge = try Bridge(plan)
            var restarts = Self.restarts(of: bridge).makeAsyncIterator()
            async let ended = bridge.run()
            for run in 1...20 {
                let (attempt, reason) = try #require(await restarts.next())
                // It never delivers for ten seconds, so that none of its attempts is the first again.
                #expect(attempt == run)
                #expect(reason.code == .streamFailed)
            }
            bridge.stop()
            let report = try await ended.get()
            #expect(report.ended == .interrupt)
            expectBalanced(report)
            let counts = try #require(report.captures["video"])
            #expect(counts.frames + counts.dropped.total >= 100)
            for file in [path, directory.file("j.mkv")] {
                let times = try await MediaProbe.videoTimes(of: file)
                #expect(times.count >= 50)
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(file)")
            }
        }
    }

    @Test func aCaptureThatGivesNothingAnyMoreIsStartedAgain() async throws {
        let port = try FreePort.udp()
        var plan = BridgePlan(
            capture: "udpsrc address=127.0.0.1 port=\(port) caps=application/x-rtp,media=video,"
                + "clock-rate=90000,encoding-name=VP8,payload=96 ! rtpvp8depay ! vp8dec",
            outputs: ["fakesink"])
        plan.restart = Self.policy
        let bridge = try Bridge(plan)
        var restarts = Self.restarts(of: bridge).makeAsyncIterator()
        async let ended = bridge.run()
        func send() async throws {
            try await withChildProcess(
                "gst-launch-1.0",
                ("videotestsrc is-live=true ! video/x-raw,width=64,height=64 ! vp8enc deadline=1 ! rtpvp8pay "
                    + "! udpsink host=127.0.0.1 port=\(port)").split(separator: " ").map(
                        String.init)
            ) { _ in try await Self.next(10, of: bridge) }
        }
        try await send()
        let (_, reason) = try #require(await restarts.next())
        #expect(reason.code == .deadlineExceeded)
        try await send()
        bridge.stop()
        try await ended.get()
    }

    @Test func attemptsAreLimited() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            var plan = Self.plan(port: port, outputs: ["fakesink"])
            plan.restart?.attempts = 3
            let bridge = try Bridge(plan)
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            async let ended = bridge.run()
            try await Self.next(5, of: bridge)
            try await camera.kill()
            let report = await ended
            #expect(report.ended == .error)
            #expect("\(report)".contains("Failed to connect"))
            expectBalanced(report)
        }
    }

    @Test func theDurationEndsWhileTheCameraIsAway() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            var plan = Self.plan(port: port, outputs: ["fakesink"])
            plan.durationLimit = .seconds(4)
            let bridge = try Bridge(plan)
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            async let ended = bridge.run()
            try await Self.next(5, of: bridge)
            try await camera.kill()
            let report = try await ended.get()
            #expect(report.ended == .duration)
        }
    }

    @Test func aCaptureThatNeverGaveAnythingIsAnError() async throws {
        let port = try FreePort.tcp()
        let plan = Self.plan(port: port, outputs: ["fakesink"])
        let report = try await Bridge(plan).run()
        #expect(report.ended == .error)
        #expect(report.failures.first?.code == .resourceFailed)
    }

    @Test func aFileThatEndsIsNotStartedAgain() async throws {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=10 ! video/x-raw,width=32,height=32",
            outputs: ["fakesink"])
        plan.restart = Self.policy
        let report = try await Bridge(plan).run().get()
        #expect(report.ended == .eos)
        #expect(report.captures["video"]?.frames == 10)
    }

    @Test func aCaptureThatWritesFilesIsRefused() throws {
        var plan = BridgePlan(
            capture: "videotestsrc is-live=true ! tee name=t ! queue ! filesink location=/dev/null "
                + "t. ! queue ! appsink name=video")
        plan.restart = Self.policy
        let error = #expect(throws: PipelineError.self) { try Bridge(plan) }
        #expect(error?.message.contains("overwritten") == true)
    }
}
