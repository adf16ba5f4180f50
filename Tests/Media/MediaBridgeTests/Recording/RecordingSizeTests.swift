import MediaBridge
import TestSupport
import Testing

/// Recordings keep one size for input of any size.
@Suite(.hangGuard)
struct RecordingSizeTests {
    @Test(arguments: [true, false])
    func picturesOfAnySizeGoIntoOneFile(blocks: Bool) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.video?.size = VideoSize(width: 64, height: 48)
            let recorder = try Recorder(
                directory.file("out.mkv"), configuration: configuration)
            try recorder.start()
            let sizes = [(64, 48), (96, 64), (32, 128), (64, 48)]
            for index in 0..<20 {
                let (width, height) = sizes[index / 5]
                var frame = try VideoFrame(
                    VideoFormat(.i420, width: width, height: height),
                    runningTime: MediaTime(value: Int64(index), timescale: 25))
                if index == 7 { frame.rotation = try #require(VideoRotation(rawValue: 90)) }
                if blocks {
                    #expect(recorder.consume(frame) == .accepted)
                } else {
                    try await recorder.write(frame)
                }
            }
            let report = try await recorder.stop()
            #expect(report.files.map(\.frames) == [20])
            let video = try await MediaProbe(of: directory.file("out.mkv")).video
            #expect((video?.width, video?.height) == (64, 48))
            #expect(video?.frames == 20)
        }
    }

    @Test func encodedPicturesAreRefused() async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: "videotestsrc num-buffers=5 ! x264enc ! h264parse")
            var configuration = Recorder.Configuration()
            configuration.video?.size = VideoSize(width: 64, height: 48)
            plan.recordings = [
                .init(path: directory.file("out.mkv"), configuration: configuration)
            ]
            let report = await (try Bridge(plan)).run()
            expectBalanced(report)
            #expect(report.failures.contains { $0.message.contains("video/x-h264") })
            #expect(directory.contents.isEmpty)
        }
    }
}
