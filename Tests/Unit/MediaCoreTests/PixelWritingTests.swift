import MediaCore
import Testing

/// The most obvious ways to write pixels.
struct PixelWritingTests {
    @Test func aRowIsWrittenByteByByte() throws {
        var picture = try PixelBuffer(.i420, size: VideoSize(width: 16, height: 8))
        try picture.withMutablePlanes { planes in
            let luma = planes[0]
            for y in 0..<luma.rows {
                let row = luma.row(y)
                for x in 0..<luma.width { row[x] = UInt8(x + y) }
            }
        }
        try picture.withPlanes { planes in
            for y in 0..<8 {
                for x in 0..<16 {
                    let pixel = planes[0].row(y)[x]
                    #expect(pixel == UInt8(x + y))
                }
            }
        }
    }

    /// Accepts raw frames, and refuses encoded units.
    private final class Taker: VideoFrameConsumer {
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition { .accepted }
    }

    @Test(arguments: [(32, FrameDisposition.accepted), (31, .badSize), (0, .badSize)])
    func bytesOfAnArrayAreCounted(count: Int, disposition: FrameDisposition) {
        let bytes = [UInt8](repeating: 1, count: count)
        let size = VideoSize(width: 8, height: 4)
        #expect(
            Taker().consumeRawData(
                bytes, withTimestamp: .zero, format: .gray8, size: size, rotation: .none)
                == disposition)
        let ofSpan = Taker().consumeRawData(
            bytes.span.bytes, withTimestamp: .zero, format: .gray8, size: size, rotation: .none)
        #expect(ofSpan == disposition)
    }

    @Test func aPixelIsWrittenWhereItIs() throws {
        var picture = try PixelBuffer(.gray8, size: VideoSize(width: 16, height: 8))
        try picture.withMutablePlanes { planes in
            planes[0].fill(1)
            planes[0].row(2)[3] = 7
        }
        let pixel = try picture.withPlanes { $0[0].row(2)[3] }
        #expect(pixel == 7)
    }
}
