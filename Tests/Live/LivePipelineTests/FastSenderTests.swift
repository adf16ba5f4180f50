import MediaBridge
import TestSupport
import Testing

/// A third-party sender that is faster than its own timestamps.
@Suite("Fast senders", .hangGuard) struct FastSenderTests {
    /// The receiver gives frames that arrive too fast the same timestamp; parsers then output all but
    /// the first without one. In a recording without encoding, each frame must be in the file, in
    /// order.
    @Test func fastSenderIsRecordedCompletelyAndInOrder() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.udp()
            let path = directory.file("out.mp4")
            var plan = BridgePlan(
                capture: "udpsrc address=127.0.0.1 port=\(port) caps=application/x-rtp,media=video,"
                    + "clock-rate=90000,encoding-name=H264,payload=96 ! rtpjitterbuffer latency=50 "
                    + "! rtph264depay ! h264parse")
            plan.recordings = [BridgePlan.Recording(path: path)]
            plan.frameLimit = 60
            let bridge = try Bridge(plan)
            // Ten times as fast as the packets' timestamps.
            let line =
                "videotestsrc ! video/x-raw,width=64,height=64,framerate=30/1 "
                + "! x264enc tune=zerolatency threads=1 key-int-max=10 ! identity sleep-time=3000 "
                + "! rtph264pay config-interval=1 pt=96 aggregate-mode=zero-latency "
                + "! udpsink host=127.0.0.1 port=\(port) sync=false"
            let report = try await withChildProcess(
                "gst-launch-1.0", line.split(separator: " ").map(String.init)
            ) { _ in await bridge.run() }
            expectBalanced(report)
            #expect(report.failures == [])
            let video = try #require(bridge.recorders[0].report.video)
            #expect(video.written == 60)
            #expect(video.balance.dropped[.noTime] == 0)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == 60)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        }
    }
}
