import BridgeEngine
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// A camera that encodes, through a network that loses.
@Suite(.deadline(minutes: 3)) struct LossyChannelTests {
    /// Writes the pictures one after the other, and keeps their times.
    private final class Screen: VideoSink, Sendable {
        let times = Mutex<[MediaTime]>([])
        let latestDelay = Mutex(MediaTime.zero)
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
            latestDelay.withLock { $0 = frame.liveTiming?.playoutDelay ?? .zero }
        }
    }

    /// At 5 % loss and 80 ms jitter: what is shown is what was sent, soon again after each loss, and the
    /// counts say what was done. The first without resending, as the worst network would have it.
    @Test(arguments: [0, 1])
    func aLossIsSoonOverAndNoWrongPictureIsShown(resends: Int) async throws {
        try await withTemporaryDirectory { directory in
            let (sent, shown) = (directory.file("sent.mkv"), directory.file("shown.raw"))
            let network = LoopbackNetwork()
            var impairment = LoopbackImpairment()
            impairment.loss = 0.05
            impairment.delay = .milliseconds(20)
            impairment.jitter = .milliseconds(80)
            impairment.resends = resends
            network.impair(impairment)
            let sender = MediaEngine(transport: network)
            let receiver = MediaEngine(transport: network)
            let recorder = try Recorder(sent)
            try recorder.start()
            try await sender.addRecorder(recorder)
            let screen = try Screen(shown)
            var options = RendererOptions()
            options.depth = 300
            let renderer = try await receiver.addVideoRenderer(
                screen, to: .remote("camera"), options: options)
            try await receiver.joinChannel("room", userID: "viewer", role: .audience)
            let events = sender.events
            try await sender.setVideoSource(
                PipelineVideoSource(
                    "videotestsrc is-live=true num-buffers=300 pattern=ball ! "
                        + "video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! "
                        + "x264enc tune=zerolatency key-int-max=100000 bitrate=500 ! h264parse"))
            try await sender.joinChannel("room", userID: "camera")
            for await event in events { if case .sourceEnded = event { break } }
            var outgoing = await sender.statistics.channel?.outgoing
            while (outgoing?.waiting ?? 0) > 0, !Task.isCancelled {
                await Task.yield()
                outgoing = await sender.statistics.channel?.outgoing
            }
            let frames = try #require(outgoing)
            // A unit counts as delivered when it is handed over, which is before the receiver counts it.
            func received() async -> Int {
                await receiver.statistics.remote["camera"]?[.main]?.received ?? 0
            }
            while await received() < frames.delivered, !Task.isCancelled { await Task.yield() }
            await receiver.shutDown()
            await sender.shutDown()
            let report = try await recorder.stop()

            #expect(frames.sent == report.video?.written)
            let statistics = await receiver.statistics
            let remote = try #require(
                statistics.renderers[renderer] ?? statistics.gone.renderers.latest[renderer])
            let times = screen.times.withLock { $0 }
            #expect(remote.rendered == times.count)
            // A unit is lost if one of its packets is; what refers to it is not sent on.
            #expect(frames.lost > 0 || resends > 0)
            #expect(frames.delivered + frames.lost + frames.needingKeyFrame == frames.sent)
            let decoding =
                statistics.remote["camera"]?[.main]?.decoding
                ?? statistics.gone.remote.latest.values.first?.decoding
            #expect(decoding?.offered == frames.delivered)
            // Displays wait for the late ones.
            #expect(screen.latestDelay.withLock { $0 } > .zero)
            let there = try await MediaProbe.rawPictures(
                of: shown, format: "yuv420p", size: "160x120")
            #expect(there.count == times.count)
            // In the order in which they were sent, and none but those; two seconds are 60 of them.
            let right = try await MediaProbe.pictures(of: sent)
            var place = -1
            for (index, picture) in there.enumerated() {
                let next = right[(place + 1)...].firstIndex(of: picture)
                let found = try #require(next, "picture \(index) is wrong")
                #expect(index == 0 || found - place <= 60, "\(frames)")
                place = found
            }
        }
    }
}
