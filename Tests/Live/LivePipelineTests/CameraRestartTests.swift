import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// Network cameras that are killed and restarted.
@Suite("Restarted cameras", .hangGuard)
struct CameraRestartTests {
    /// A restart policy with short delays.
    private static var policy: RestartPolicy {
        var policy = RestartPolicy()
        policy.delay = .milliseconds(20)
        policy.longestDelay = .milliseconds(200)
        return policy
    }

    /// A plan that captures a network camera, with restarts.
    private static func plan(port: Int, outputs: [String] = []) -> BridgePlan {
        var plan = BridgePlan(capture: capture(port: port), outputs: outputs)
        plan.restart = policy
        return plan
    }

    private static func capture(port: Int) -> String {
        "rtspsrc location=\(RTSPCamera.url(port: port)) protocols=tcp latency=100 "
            + "! rtph264depay ! h264parse name=units"
    }

    /// The restarts that a bridge reports.
    private static func restarts(of bridge: Bridge) -> AsyncStream<(Int, PipelineError)> {
        let (stream, continuation) = AsyncStream.makeStream(of: (Int, PipelineError).self)
        bridge.onEvent {
            if case .restarting(_, let attempt, _, let reason) = $0 {
                continuation.yield((attempt, reason))
            }
        }
        return stream
    }

    /// Counts the buffers from the element `units` of a bridge's capture.
    private static func units(of bridge: Bridge) throws -> Observed<Int> {
        let count = Observed(0)
        try #require(bridge.captures[0].pipeline.element(named: "units")?.pad("src"))
            .onBuffer { count.change { $0 += 1 } }
        return count
    }

    /// A camera that sends H.264 with a keyframe every ten frames, and writes each frame to a file
    /// before it sends it. A frame fits in one packet, so that killing the camera truncates no
    /// frame.
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

    @Test(arguments: [
        "rtspsrc protocols=tcp location=%@ ! rtph264depay ! h264parse",
        "uridecodebin uri=%@ ! videoconvert",
    ])
    func keepsTheRTSPSessionAlive(capture: String) async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            let camera = try await Self.camera(port: port, keeping: directory.file("camera.h264"))
            let url = RTSPCamera.url(port: port).replacingOccurrences(of: "rtsp:", with: "rtspt:")
            let bridge = try Bridge(
                BridgePlan(
                    capture: capture.replacingOccurrences(of: "%@", with: url),
                    outputs: ["fakesink"]))
            async let ended = bridge.run()
            try await camera.process.waitForOutput("GET_PARAMETER\nGET_PARAMETER")
            bridge.stop()
            #expect(await ended.failures.isEmpty)
            try await camera.kill()
        }
    }

    /// The server of a live HLS stream ends and returns.
    @Test func restartsALiveStreamOverHTTP() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            let served = directory.file("served")
            try FileManager.default.createDirectory(
                atPath: served, withIntermediateDirectories: false)
            let sender = try ChildProcess(
                "gst-launch-1.0",
                "-q videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=25/1 ! x264enc tune=zerolatency key-int-max=25 ! h264parse ! hlssink2 max-files=8 playlist-length=4 target-duration=1 location=\(served)/s%05d.ts playlist-location=\(served)/list.m3u8"
                    .split(separator: " ").map(String.init))
            defer { sender.send(signal: SIGKILL) }
            func serve() async throws -> ChildProcess {
                let server = try ChildProcess(
                    "python3",
                    [
                        "-u", "-m", "http.server", "\(port)", "--bind", "127.0.0.1",
                        "--directory", served,
                    ])
                try await server.waitForOutput("Serving HTTP")
                return server
            }
            try await Tool.check(
                "sh", ["-c", "until test -s \(served)/list.m3u8; do sleep 0.1; done"])
            let first = try await serve()
            let url = "http://127.0.0.1:\(port)/list.m3u8"
            var plan = BridgePlan(
                capture: "souphttpsrc location=\(url) ! hlsdemux "
                    + "! tsdemux ! h264parse name=units")
            let path = directory.file("out.mkv")
            plan.recordings = [BridgePlan.Recording(path: path)]
            plan.restart = Self.policy
            let bridge = try Bridge(plan)
            var restart = Self.restarts(of: bridge).makeAsyncIterator()
            let units = try Self.units(of: bridge)
            async let ended = bridge.run()
            await units.wait { $0 >= 30 }
            first.send(signal: SIGKILL)
            _ = try await first.end()
            _ = await restart.next()
            let before = units.value
            let second = try await serve()
            await units.wait { $0 >= before + 30 }
            bridge.stop()
            let report = await ended
            second.send(signal: SIGKILL)
            #expect(report.failures.isEmpty, "\(report)")
            #expect(report.captures["video"]?.restarts ?? 0 > 0, "\(report)")
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == report.captures["video"]?.frames)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        }
    }

    @Test func recordsACameraAcrossTwoRestartsWithoutReencoding() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            var plan = Self.plan(port: port)
            plan.recordings = ["mkv", "mp4", "ts"].map {
                BridgePlan.Recording(name: $0, path: directory.file("out.\($0)"))
            }
            let bridge = try Bridge(plan)
            let units = try Self.units(of: bridge)
            var restarts = Self.restarts(of: bridge).makeAsyncIterator()
            let files = (0..<3).map { directory.file("sent-\($0).h264") }
            var camera = try await Self.camera(port: port, keeping: files[0])
            defer { camera.process.send(signal: SIGKILL) }
            async let ended = bridge.run()
            await units.wait(for: 15)
            for file in files.dropFirst() {
                try await camera.kill()
                #expect(await restarts.next() != nil)
                camera = try await Self.camera(port: port, keeping: file)
                await units.wait(for: 15)
            }
            bridge.stop()
            let report = try await ended.get()
            expectBalanced(report)
            try await camera.kill()
            var sent: [[String]] = []
            for file in files { sent.append(try await MediaProbe.pictures(of: file)) }
            for (recording, recorder) in zip(plan.recordings, bridge.recorders) {
                #expect(recorder.report.files.count == 1)
                let track = try #require(recorder.report.video)
                #expect(track.encoder == "copy")
                let pictures = try await MediaProbe.pictures(of: recording.path)
                #expect(pictures.count == track.written)
                // The frames that each camera sent, from the first received to the last, in order.
                var rest = pictures[...]
                for sent in sent {
                    let begin = try #require(sent.firstIndex(of: rest.first ?? ""))
                    let same = zip(sent[begin...], rest).prefix { $0 == $1 }.count
                    #expect(same > 0)
                    rest = rest.dropFirst(same)
                }
                #expect(rest.isEmpty, "\(recording.name)")
                // Timestamps increase strictly.
                let times = try await MediaProbe.videoTimes(of: recording.path)
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
            }
        }
    }

    @Test func loopEndsWhenTheCameraIsSwitchedOff() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            let source = try PipelineVideoSource(Self.capture(port: port))
            var count = 0
            for try await unit in source.encodedFrames() {
                #expect(unit.liveTiming != nil && (count > 0 || unit.isKeyFrame))
                count += 1
                if count == 10 { try await camera.kill() }
            }
            #expect(count >= 10)
            expectBalanced(source.statistics)
        }
    }

    @Test func silentCaptureIsRestarted() async throws {
        let port = try FreePort.udp()
        var plan = BridgePlan(
            capture: "udpsrc address=127.0.0.1 port=\(port) caps=application/x-rtp,media=video,"
                + "clock-rate=90000,encoding-name=VP8,payload=96 ! rtpvp8depay name=units ! vp8dec",
            outputs: ["fakesink"])
        plan.restart = Self.policy
        let bridge = try Bridge(plan)
        let units = try Self.units(of: bridge)
        var restarts = Self.restarts(of: bridge).makeAsyncIterator()
        async let ended = bridge.run()
        func send() async throws {
            try await withChildProcess(
                "gst-launch-1.0",
                ("videotestsrc is-live=true ! video/x-raw,width=64,height=64 ! vp8enc deadline=1 ! rtpvp8pay "
                    + "! udpsink host=127.0.0.1 port=\(port)").split(separator: " ").map(
                        String.init)
            ) { _ in await units.wait(for: 10) }
        }
        try await send()
        let (_, reason) = try #require(await restarts.next())
        #expect(reason.code == .deadlineExceeded)
        try await send()
        bridge.stop()
        try await ended.get()
    }

    @Test func restartAttemptsAreLimited() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            var plan = Self.plan(port: port, outputs: ["fakesink"])
            plan.restart?.attempts = 3
            let bridge = try Bridge(plan)
            let units = try Self.units(of: bridge)
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            async let ended = bridge.run()
            await units.wait(for: 5)
            try await camera.kill()
            let report = await ended
            #expect(report.ended == .error)
            #expect("\(report)".contains("Failed to connect"))
            expectBalanced(report)
        }
    }

    @Test func durationLimitEndsTheRunDuringACameraOutage() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            var plan = Self.plan(port: port, outputs: ["fakesink"])
            plan.durationLimit = .seconds(2)
            let bridge = try Bridge(plan)
            let units = try Self.units(of: bridge)
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            async let ended = bridge.run()
            await units.wait(for: 5)
            try await camera.kill()
            let report = try await ended.get()
            #expect(report.ended == .duration)
        }
    }

    @Test func waitsForACameraThatIsOffAtTheStart() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.tcp()
            let bridge = try Bridge(Self.plan(port: port, outputs: ["fakesink"]))
            let units = try Self.units(of: bridge)
            let waits = Happening()
            bridge.onEvent { if case .waiting = $0 { waits.happen() } }
            async let ended = bridge.run()
            await waits.wait()
            let camera = try await Self.camera(port: port, keeping: directory.file("sent.h264"))
            defer { camera.process.send(signal: SIGKILL) }
            await units.wait(for: 5)
            bridge.stop()
            let report = try await ended.get()
            #expect(report.ended == .interrupt && report.failures.isEmpty, "\(report)")
        }
    }
}

extension Observed<Int> {
    /// Waits until the count has grown by `more`.
    fileprivate func wait(for more: Int) async {
        let goal = value + more
        await wait { $0 >= goal }
    }
}
