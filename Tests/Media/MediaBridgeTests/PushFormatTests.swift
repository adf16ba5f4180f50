import MediaBridge
import MediaBridgeAgora
import TestSupport
import Testing

/// Compares the bytes of push mode with GStreamer's own reading and cropping of the same picture.
@Suite(.hangGuard) struct PushFormatTests {
    private static let formats: [PushFormat] = [
        .i420, .bgra, .nv21, .rgba, .argb, .nv12, .i422,
    ]
    /// Strides and heights: odd, even, one, and not a multiple of any alignment.
    private static let sizes = [(16, 8), (15, 9), (17, 7), (9, 16), (5, 5), (2, 2), (1, 1)]

    /// Left, top, right and bottom: none, even, odd, and mixed.
    private static let crops = [
        VideoCrop(), VideoCrop(left: 2, top: 2, right: 2, bottom: 2), VideoCrop(left: 1),
        VideoCrop(top: 1), VideoCrop(right: 1), VideoCrop(bottom: 1),
        VideoCrop(left: 1, top: 1, right: 1, bottom: 1),
        VideoCrop(left: 3, top: 1, right: 2, bottom: 3),
        VideoCrop(left: 2, top: 3, right: 1, bottom: 0),
        VideoCrop(left: 0, top: 4, right: 3, bottom: 1), VideoCrop(left: 4),
    ]

    @Test(arguments: formats)
    func cropMatchesThatOfGStreamer(format: PushFormat) throws {
        let pixels = try #require(VideoPixelFormat(push: format))
        for (stride, height) in Self.sizes {
            let whole = VideoSize(width: stride, height: height)
            let original = try DefinedPicture.frame(pixels, whole)
            for crop in Self.crops {
                guard let kept = crop.size(of: whole) else { continue }
                let pushed = ExternalVideoFrame()
                pushed.format = format
                pushed.strideInPixels = stride
                pushed.height = height
                pushed.dataBuf = DefinedPicture.bytes(try pixels.packedPlanes(whole))
                (pushed.cropLeft, pushed.cropTop) = (crop.left, crop.top)
                (pushed.cropRight, pushed.cropBottom) = (crop.right, crop.bottom)
                let made = try pushed.made(now: .zero)
                let expected = try original.through(
                    "videocrop left=\(crop.left) top=\(crop.top) right=\(crop.right) "
                        + "bottom=\(crop.bottom)")
                let comment: Comment = "\(pixels) \(whole), \(crop)"
                #expect(VideoSize(width: made.width, height: made.height) == kept, comment)
                #expect(made.format.pixelFormat == expected.format.pixelFormat, comment)
                #expect(try made.rows == expected.rows, comment)
                #expect(try made.through("identity").rows == made.rows, comment)
            }
        }
    }

    @Test func imc2MatchesI420WithRearrangedChroma() throws {
        for (stride, height) in [(16, 8), (14, 9), (2, 1), (6, 5)] {
            let whole = VideoSize(width: stride, height: height)
            let original = try DefinedPicture.frame(.i420, whole)
            let rows = try original.rows
            // By the format's definition, V is in the left half of a row, and U in the right half.
            var bytes = rows[0].flatMap { $0 }
            for (v, u) in zip(rows[2], rows[1]) { bytes += v + u }
            for crop in Self.crops where crop.size(of: whole) != nil {
                let pushed = ExternalVideoFrame()
                pushed.format = .imc2
                pushed.strideInPixels = stride
                pushed.height = height
                pushed.dataBuf = bytes
                (pushed.cropLeft, pushed.cropTop) = (crop.left, crop.top)
                (pushed.cropRight, pushed.cropBottom) = (crop.right, crop.bottom)
                let made = try pushed.made(now: .zero)
                let expected = try original.through(
                    "videocrop left=\(crop.left) top=\(crop.top) right=\(crop.right) "
                        + "bottom=\(crop.bottom)")
                #expect(made.format.pixelFormat == .i420)
                #expect(try made.rows == expected.rows, "\(whole), \(crop)")
            }
        }
    }

    /// MediaIO frames: the size is that of the picture, and the rows have an independent stride.
    @Test(arguments: [VideoPixelFormat.i420, .bgra, .nv12])
    func strideDoesNotChangeTheFrame(format: VideoPixelFormat) throws {
        for (width, height) in Self.sizes {
            let size = VideoSize(width: width, height: height)
            let expected = try DefinedPicture.frame(format, size).rows
            for stride in [width, width + 1, width + 2, width + 7, 4 * width] {
                let planes = try format.packedPlanes(size, strideInPixels: stride)
                let made = try DefinedPicture.bytes(planes).withUnsafeBytes { bytes in
                    try RawPicture(
                        unsafe: bytes, format: format, size: size, strideInPixels: stride
                    ).copied()
                }
                let frame = VideoFrame(made, runningTime: .zero)
                #expect(try frame.through("identity").rows == expected, "\(size), \(stride)")
            }
        }
    }

    /// A camera frame has GStreamer's strides; cropped, it equals the output of `videocrop`.
    @Test(arguments: formats)
    func gstreamerPixelBufferIsCropped(format: PushFormat) throws {
        let pixels = try #require(VideoPixelFormat(push: format))
        let original = try DefinedPicture.frame(pixels, VideoSize(width: 15, height: 9))
        let pushed = ExternalVideoFrame()
        pushed.format = .pixelBuffer
        pushed.textureBuf = original.pixelBuffer
        #expect(try pushed.made(now: .zero).storage === original.storage)
        (pushed.cropLeft, pushed.cropTop, pushed.cropRight, pushed.cropBottom) = (3, 1, 2, 3)
        let made = try pushed.made(now: .zero)
        let expected = try original.through("videocrop left=3 top=1 right=2 bottom=3")
        #expect(try made.rows == expected.rows)
    }
}
