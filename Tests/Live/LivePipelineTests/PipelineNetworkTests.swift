import Foundation
import MediaBridge
import TestSupport
import Testing

/// The network pipeline, with the gst-launch-1.0 receiver from its header comment at the other end.
@Suite("Pipeline files on a network", .hangGuard) struct PipelineNetworkTests {
    /// Frames from shared memory carry no timestamps.
    @Test func sharedMemoryFramesGetTheirArrivalTime() async throws {
        try await withTemporaryDirectory { directory in
            let (socket, path) = (directory.file("socket"), directory.file("out.mkv"))
            let caps = "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
            let sender = try ChildProcess(
                "gst-launch-1.0",
                "videotestsrc is-live=true ! \(caps) ! shmsink socket-path=\(socket)"
                    .split(separator: " ").map(String.init))
            defer { sender.send(signal: SIGKILL) }
            try await sender.waitForOutput("does not need PREROLL")
            var plan = BridgePlan(capture: "shmsrc socket-path=\(socket) ! \(caps)")
            plan.recordings = [.init(path: path)]
            plan.frameLimit = 10
            let warnings = Observed<[String]>([])
            let bridge = try Bridge(plan)
            bridge.onEvent { event in
                if case .warned(let error) = event { warnings.change { $0.append("\(error)") } }
            }
            let report = try await bridge.run().get()
            expectBalanced(report)
            #expect(warnings.value.count { $0.contains("the time of their arrival") } == 1)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == 10)
            #expect(times == times.sorted())
        }
    }

    @Test func h264OverRTPIsDecodedByGstLaunch() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.udp()
            let received = directory.file("received.i420")
            let receiver =
                "udpsrc port=\(port) address=127.0.0.1 "
                + "caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96 "
                + "! rtpjitterbuffer ! rtph264depay ! h264parse ! avdec_h264 ! videoconvert "
                + "! video/x-raw,format=I420 ! identity eos-after=11 "
                + "! filesink sync=false location=\(received)"
            try await withChildProcess(
                "gst-launch-1.0", receiver.split(separator: " ").map(String.init)
            ) { child in
                // udpsrc has bound its port before the pipeline goes to PLAYING.
                try await child.waitForOutput("Setting pipeline to PLAYING")
                var plan = try PipelineFolder.plan(
                    "h264-over-rtp.yaml", setting: ["port": "\(port)"])
                plan.captures[0].text.replace("width=1280,height=720", with: "width=320,height=180")
                let bridge = try Bridge(plan)
                async let report = bridge.run()
                // The receiver exits after ten decoded frames.
                let result = try await child.end()
                #expect(result.status == 0, "\(result.errors)")
                bridge.stop()
                try await expectBalanced(report.get())
            }
            let size = try FileManager.default.attributesOfItem(atPath: received)[.size] as? Int
            #expect(size == 10 * 320 * 180 * 3 / 2)
        }
    }

    @Test func rtspCameraIsRecordedWithoutReencoding() async throws {
        try await withTemporaryDirectory { directory in
            let (sent, path) = (directory.file("sent.h264"), directory.file("rtsp.mkv"))
            let port = try FreePort.tcp()
            let camera = try await RTSPCamera(
                port: port,
                "videotestsrc is-live=true pattern=ball ! "
                    + "video/x-raw,width=160,height=120,framerate=30/1 ! "
                    + "x264enc tune=zerolatency key-int-max=10 ! tee name=t "
                    + "! h264parse ! video/x-h264,stream-format=byte-stream "
                    + "! filesink buffer-mode=unbuffered location=\(sent) "
                    + "t. ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1")
            defer { camera.process.send(signal: SIGKILL) }
            let plan = try PipelineFolder.plan(
                "rtsp-to-file.yaml",
                setting: ["url": RTSPCamera.url(port: port), "file": path], frames: 20)
            let bridge = try Bridge(plan)
            let report = try await bridge.run().get()
            expectBalanced(report)
            #expect(report.outputs["file"]?.frames == 20)
            try await camera.kill()
            let (before, after) = (
                try await MediaProbe.pictures(of: sent), try await MediaProbe.pictures(of: path)
            )
            let begin = try #require(before.firstIndex(of: after[0]))
            #expect(after == Array(before[begin...].prefix(20)))
        }
    }
}
