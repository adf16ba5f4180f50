import BridgeEngine
import Foundation
import MediaBridgeTesting
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// A camera that encodes, over a lossy network.
@Suite(.hangGuard) struct LossyChannelTests {
    /// Writes the frames one after the other, and keeps their times.
    private final class Screen: VideoSink, Sendable {
        let times = Mutex<[MediaTime]>([])
        private let file: FileHandle

        init(_ path: String) throws {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            file = try #require(FileHandle(forWritingAtPath: path))
        }

        func pixelFormat() -> VideoPixelFormat { .i420 }

        func render(_ frame: VideoFrame) throws {
            var bytes = Data()
            try frame.withPlanes { planes in
                for index in 0..<3 {
                    let plane = planes[index]
                    for row in 0..<plane.rows {
                        plane.row(row).withUnsafeBytes { bytes.append(contentsOf: $0) }
                    }
                }
            }
            try file.write(contentsOf: bytes)
            times.withLock { $0.append(frame.runningTime ?? .zero) }
        }
    }

    /// At 5 % loss and 80 ms jitter, every frame shown was sent, video resumes after a loss, and the
    /// counts balance. The first network does not retransmit.
    @Test(arguments: [0, 1])
    func videoResumesAfterALossWithoutCorruptFrames(resends: Int) async throws {
        try await withTemporaryDirectory { directory in
            let (sent, shown) = (directory.file("sent.mkv"), directory.file("shown.raw"))
            let clock = VirtualTimeline()
            let network = LossyTransport(
                LoopbackNetwork(depth: 1000, timeline: clock), on: clock)
            var impairment = NetworkImpairment()
            impairment.loss = 0.05
            impairment.delay = .milliseconds(20)
            impairment.jitter = .milliseconds(80)
            impairment.resends = resends
            network.impair(impairment)
            var offline = MediaEngine.Configuration()
            offline.isRealTime = false
            let sender = MediaEngine(configuration: offline, transport: network)
            let receiver = MediaEngine(configuration: offline, transport: network)
            let recorder = try Recorder(sent)
            try recorder.start()
            try await sender.addRecorder(recorder)
            let screen = try Screen(shown)
            let renderer = try await receiver.addVideoSink(screen, to: .remote("camera"))
            try await receiver.joinChannel("room", userID: "viewer", role: .audience)
            let events = sender.events
            try await sender.setVideoSource(
                ClockedSource(
                    "videotestsrc num-buffers=150 pattern=ball ! "
                        + "video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! "
                        + "x264enc speed-preset=ultrafast tune=zerolatency key-int-max=100000 ! "
                        + "h264parse", clock))
            try await sender.joinChannel("room", userID: "camera")
            for await event in events { if case .sourceEnded = event { break } }
            // Frames in flight arrive.
            clock.advance(by: .seconds(10))
            let settled = await sender.statistics { $0.channel?.outgoing.waiting == 0 }
            let frames = try #require(settled.channel?.outgoing)
            let delivered = frames.delivered
            let isDecoded: @Sendable (EngineStatistics) -> Bool = { statistics in
                let remote = statistics.remote["camera"]?[.main]
                return remote?.received == delivered && remote?.decoding.waiting == 0
                    && statistics.videoSinks[renderer]?.balance.waiting == 0
            }
            let statistics = await receiver.statistics(once: isDecoded)
            await receiver.shutDown()
            await sender.shutDown()
            let final = await receiver.statistics
            let counts = final.videoSinks[renderer] ?? final.removed.videoSinks.latest[renderer]
            let report = try await recorder.stop()

            #expect(frames.offered == 150 && report.video?.written == 150)
            let times = screen.times.withLock { $0 }
            #expect(counts?.balance.delivered == times.count)
            // A unit is lost if one of its packets is lost; units that refer to it are not
            // forwarded.
            #expect(frames.dropped[.lost] > 0 || resends > 0)
            #expect(
                frames.delivered + frames.dropped[.lost] + frames.dropped[.needsKeyFrame]
                    == frames.offered)
            #expect(statistics.remote["camera"]?[.main]?.decoding.offered == frames.delivered)
            let there = try await MediaProbe.rawPictures(
                of: shown, format: "yuv420p", size: "64x48")
            #expect(there.count == times.count)
            // Only sent frames are shown, in the order in which they were sent. How many are missing
            // depends on how fast the machine serves a request for a key frame.
            let right = try await MediaProbe.pictures(of: sent)
            var (place, resumed) = (-1, 0)
            for (index, picture) in there.enumerated() {
                let next = right[(place + 1)...].firstIndex(of: picture)
                let found = try #require(next, "picture \(index) is wrong")
                if index > 0, found - place > 1 { resumed += 1 }
                place = found
            }
            #expect(resumed > 0 || frames.dropped[.lost] == 0, "\(frames)")
        }
    }
}
