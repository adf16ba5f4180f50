import MediaBridge
import TestSupport
import Testing

/// Frames with the same time.
@Suite(.hangGuard) struct SameTimeTests {
    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func aPictureOfTheTimeOfTheOneBeforeIsRecorded(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Recorder(path)
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<12 {
                let time = MediaTime(value: index == 5 ? 4 : Int64(index), timescale: 25)
                try await recorder.write(frames.picture(index, at: time))
            }
            let report = try await recorder.stop()
            #expect(report.video?.written == 12 && report.video?.dropped == DropCounts())
            let luma = try await MediaProbe.luma(of: path)
            #expect(luma.count == 12)
            for (index, shade) in luma.enumerated() {
                #expect(RecordedFrames.isShade(shade[0], of: index))
            }
        }
    }
}
