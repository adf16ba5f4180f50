import MediaBridge
import TestSupport
import Testing

/// Recordings keep one size for input of any size.
@Suite(.hangGuard)
struct RecordingSizeTests {
    @Test(arguments: [true, false])
    func framesOfAnySizeGoIntoOneFile(blocks: Bool) async throws {
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
                try frame.withMutablePlanes { planes in
                    planes[0].fill(235)
                    planes[1].fill(128)
                    planes[2].fill(128)
                }
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
            // White pictures; the frame that is taller than wide has black borders on its left and right.
            let luma = try await MediaProbe.luma(of: directory.file("out.mkv"), columns: 8)
            try #require(luma.count == 20)
            #expect(luma[12][0] < 30 && luma[0][0] > 200 && luma[19][0] > 200, "\(luma)")
        }
    }

    @Test func anotherRotationStartsANewFile() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            try recorder.start()
            for index in 0..<20 {
                var frame = try RecordedFrames().picture(index)
                frame.rotation = index < 10 ? .upright : .rotation180
                try await recorder.write(frame)
            }
            #expect(try await recorder.stop().files.map(\.frames) == [10, 10])
        }
    }

    @Test func encodedFramesAreRefused() async throws {
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
