import MediaCore
import Testing

/// The most obvious ways to write pixels.
struct PixelWritingTests {
    @Test func aRowIsWrittenByteByByte() throws {
        var picture = try PixelBuffer(.i420, size: VideoSize(width: 16, height: 8))
        try picture.withMutablePlanes { planes in
            let luma = planes[0]
            for y in 0..<luma.rows {
                var row = luma.row(y)
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

    @Test(arguments: [
        (32, FrameDisposition.accepted), (31, .dropped(.badSize)), (0, .dropped(.badSize)),
    ])
    func arrayOfTheWrongLengthIsRefused(count: Int, disposition: FrameDisposition) {
        let bytes = [UInt8](repeating: 1, count: count)
        let size = VideoSize(width: 8, height: 4)
        #expect(
            Taker().consumeRawData(
                bytes, withTimestamp: .zero, format: .gray8, size: size, rotation: .upright)
                == disposition)
        let ofSpan = Taker().consumeRawData(
            bytes.span.bytes, withTimestamp: .zero, format: .gray8, size: size, rotation: .upright)
        #expect(ofSpan == disposition)
    }

    @Test func pixelIsWrittenAtItsPosition() throws {
        var picture = try PixelBuffer(.gray8, size: VideoSize(width: 16, height: 8))
        try picture.withMutablePlanes { planes in
            planes[0].fill(1)
            var row = planes[0].row(2)
            row[3] = 7
        }
        let pixel = try picture.withPlanes { $0[0].row(2)[3] }
        #expect(pixel == 7)
    }

    @Test func chromaPlanesAreWrittenTogether() throws {
        var picture = try PixelBuffer(.i420, size: VideoSize(width: 16, height: 8))
        let other = picture
        try picture.withMutablePlanes { y, u, v in
            y.fill(90)
            for line in 0..<u.rows {
                var blue = u.row(line)
                var red = v.row(line)
                for x in 0..<u.width {
                    blue[x] = UInt8(x)
                    red[x] = 255 - blue[x]
                }
            }
        }
        let sums = try picture.withPlanes { planes in
            (0..<8).map { x in (planes[0].row(0)[x], planes[1].row(3)[x], planes[2].row(3)[x]) }
        }
        #expect(sums.allSatisfy { $0.0 == 90 && Int($0.1) + Int($0.2) == 255 })
        #expect(sums.map(\.1) == Array(0..<8))
        // The other handle keeps the black picture.
        #expect(try other.withPlanes { $0[1].row(0)[5] } == 128)
    }

    @Test func bothPlanesOfNV12AreWrittenTogether() throws {
        var frame = VideoFrame(
            try PixelBuffer(.nv12, size: VideoSize(width: 16, height: 8)), runningTime: .zero)
        try frame.withMutablePlanes { y, uv in
            y.fill(50)
            uv.fill(60)
        }
        let pixels = try frame.withPlanes { ($0[0].row(7)[15], $0[1].row(3)[15]) }
        #expect(pixels == (50, 60))
    }

    @Test func planesThatTheFormatDoesNotHaveAreAnError() throws {
        var picture = try PixelBuffer(.nv12, size: VideoSize(width: 16, height: 8))
        #expect(throws: FrameError.self) { try picture.withMutablePlanes { _, _, _ in } }
        var gray = try PixelBuffer(.gray8, size: VideoSize(width: 16, height: 8))
        #expect(throws: FrameError.self) { try gray.withMutablePlanes { _, _ in } }
    }
}
