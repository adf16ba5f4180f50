import MediaCore
import Testing

/// Reading and writing pixels by their coordinates.
@Suite struct PlaneSubscriptTests {
    private func picture() throws -> VideoFrame {
        let storage = try MemoryFrameStorage(
            format: VideoFormat(.gray8, width: 5, height: 3),
            planes: [VideoPlaneLayout(offset: 4, stride: 8, rows: 3, width: 5)])
        return VideoFrame(storage, runningTime: .zero)
    }

    @Test func sampleIsWrittenAndReadByPlaneRowAndColumn() throws {
        var frame = try picture()
        try frame.withMutablePlanes { planes in
            planes[0].fill(16)
            for y in 0..<planes[0].rows {
                var row = planes[0].row(y)
                for x in 0..<5 { row[x] = UInt8(10 * y + x) }
                row[4] += 100
            }
            let plane = planes[0]
            var last = plane.row(2)
            #expect(last[4] == 124)
            last[0] = 7
        }
        let seen = try frame.withPlanes { planes in
            (0..<3).map { y in (0..<5).map { x in planes[0].row(y)[x] } }
        }
        #expect(seen == [[0, 1, 2, 3, 104], [10, 11, 12, 13, 114], [7, 21, 22, 23, 124]])
    }
}

/// The required and the optional methods of a source.
@Suite struct SourceDefaultsTests {
    private final class Least: VideoSource {
        var consumer: (any VideoFrameConsumer)?
        func bufferType() -> VideoBufferType { .pixelBuffer }
        func shouldStart() {}
        func shouldStop() {}
    }
    private final class LeastSound: AudioSource {
        var consumer: (any AudioFrameConsumer)?
        func shouldStart() {}
        func shouldStop() {}
    }

    @Test func initializeIsOptionalForASource() throws {
        let (source, sound): (any VideoSource, any AudioSource) = (Least(), LeastSound())
        #expect(try source.shouldInitialize())
        #expect(try sound.shouldInitialize())
        try source.shouldDispose()
        try sound.shouldDispose()
    }
}
