import MediaBridgeAgora
import MediaCore
import Testing

@Suite struct ExternalVideoFrameTests {
    /// A valid frame: 8 × 6, I420.
    private static func frame() -> ExternalVideoFrame {
        let frame = ExternalVideoFrame()
        frame.strideInPixels = 8
        frame.height = 6
        frame.dataBuf = [UInt8](repeating: 128, count: 8 * 6 * 4)
        return frame
    }

    private func cause(
        _ change: (ExternalVideoFrame) throws -> Void
    ) rethrows -> DropCause? {
        let frame = Self.frame()
        try change(frame)
        return frame.cause
    }

    @Test func frameKeepsItsTimeRotationAndMetadata() throws {
        let frame = Self.frame()
        frame.time = MediaTime(seconds: 3)
        frame.rotation = 270
        frame.metadata = ["lens": "wide"]
        let made = try frame.made(now: .zero)
        #expect(made.runningTime == MediaTime(seconds: 3))
        #expect(made.rotation == .rotation270)
        #expect(made.metadata == ["lens": "wide"])
        #expect(made.format == VideoFormat(.i420, width: 8, height: 6))
        frame.time = nil
        #expect(try frame.made(now: MediaTime(seconds: 7)).runningTime?.seconds == 7)
    }

    @Test(arguments: [0, 6, 9, 11, 17, -1, .max, .min])
    func unknownFormatNumberIsRefused(number: Int) {
        #expect(cause { $0.format = PushFormat(rawValue: number) } == .badFormat)
    }

    @Test(arguments: [45, 1, -90, 360, .max, .min])
    func invalidRotationIsRefused(degrees: Int) {
        #expect(cause { $0.rotation = degrees } == .badFormat)
    }

    @Test func formatWithoutItsBufferIsRefused() throws {
        #expect(cause { $0.format = .pixelBuffer } == .wrongBufferType)
        #expect(cause { $0.dataBuf = nil } == .wrongBufferType)
        let picture = try PixelBuffer(.bgra, size: VideoSize(width: 8, height: 6))
        let cause = cause {
            $0.textureBuf = picture
            $0.dataBuf = nil
        }
        #expect(cause == .wrongBufferType, "the format still says bytes")
    }

    @Test(arguments: [0, -8, 65533, .max, .min])
    func invalidStrideIsRefused(stride: Int) {
        #expect(cause { $0.strideInPixels = stride } == .badStride)
    }

    @Test(arguments: [0, -6, 16384, .max, .min])
    func invalidHeightIsRefused(height: Int) {
        #expect(cause { $0.height = height } == .badSize)
    }

    @Test func oversizedFrameIsRefusedUnlessItIsCropped() throws {
        let frame = Self.frame()
        frame.format = .rgba
        frame.strideInPixels = 20000
        frame.height = 1
        frame.dataBuf = PackedFormats.bytes([
            VideoPlaneLayout(offset: 0, stride: 80000, rows: 1, width: 20000, pixelStride: 4)
        ])
        #expect(frame.cause == .badSize)
        frame.cropRight = 19996
        let rows = try frame.made(now: .zero).storage.rows()
        #expect(rows == [[(0..<16).map { PackedFormats.sample(0, 0, $0) }]])
    }

    @Test func extremeFieldValuesAreRefusedWithoutATrap() {
        let fields: [ReferenceWritableKeyPath<ExternalVideoFrame, Int>] = [
            \.strideInPixels, \.height, \.cropLeft, \.cropTop, \.cropRight, \.cropBottom,
            \.rotation,
        ]
        for format: PushFormat in [.i420, .bgra, .nv21, .rgba, .imc2, .argb, .nv12, .i422] {
            for value in [Int.max, .min, -1] {
                for a in fields {
                    for b in fields {
                        let cause = cause {
                            $0.format = format
                            $0[keyPath: a] = value
                            $0[keyPath: b] = value
                        }
                        #expect(cause != nil)
                    }
                }
                let cause = cause { frame in
                    frame.format = format
                    for field in fields where field != \.rotation { frame[keyPath: field] = value }
                }
                #expect(cause != nil)
            }
        }
    }

    @Test(arguments: [.i420, .bgra, .nv21, .rgba, .imc2, .argb, .nv12, .i422] as [PushFormat])
    func tooFewBytesAreRefused(format: PushFormat) throws {
        let pixels = try #require(VideoPixelFormat(push: format))
        let planes = try pixels.packedPlanes(VideoSize(width: 8, height: 6))
        let enough = planes.map { $0.offset + $0.stride * $0.rows }.max() ?? 0
        for (count, expected) in [(enough, nil), (enough - 1, .badSize), (0, .badSize)]
            as [(Int, DropCause?)]
        {
            let cause = cause {
                $0.format = format
                $0.dataBuf = [UInt8](repeating: 0, count: count)
            }
            #expect(cause == expected)
        }
    }

    @Test func emptyCropOfAPixelBufferIsRefused() throws {
        let picture = try PixelBuffer(.nv12, size: VideoSize(width: 8, height: 6))
        for crop in [8, -1, .max, .min] {
            let cause = cause {
                $0.format = .pixelBuffer
                $0.textureBuf = picture
                $0.cropLeft = crop
            }
            #expect(cause == .badSize)
        }
    }

    @Test func pixelBufferPassesUnchanged() throws {
        let frame = ExternalVideoFrame()
        frame.format = 12
        let picture = try PackedFormats.padded(.i420, VideoSize(width: 5, height: 3))
        frame.textureBuf = PixelBuffer(picture)
        let made = try frame.made(now: .zero)
        #expect(made.storage === picture, "not a pixel is copied")
    }

    @Test(arguments: PackedFormats.all)
    func pixelBufferIsCroppedLikeBytes(format: VideoPixelFormat) throws {
        let size = VideoSize(width: 9, height: 7)
        let frame = ExternalVideoFrame()
        frame.format = 12
        frame.textureBuf = PixelBuffer(try PackedFormats.padded(format, size))
        (frame.cropLeft, frame.cropTop, frame.cropRight, frame.cropBottom) = (3, 1, 2, 1)
        let planes = try format.packedPlanes(size)
        let bytes = try PackedFormats.bytes(planes).withUnsafeBytes { bytes in
            try RawPicture(unsafe: bytes, format: format, size: size, crop: frame.crop)
                .copied()
        }
        let made = try frame.made(now: .zero)
        #expect(made.width == 4 && made.height == 5)
        #expect(try made.storage.rows() == bytes.rows())
    }

    @Test func imc2WithAnOddStrideIsRefused() {
        let cause = cause {
            $0.format = .imc2
            $0.strideInPixels = 7
        }
        #expect(cause == .badStride)
    }

    @Test func imc2HasItsChromaSideBySide() throws {
        let frame = Self.frame()
        frame.format = .imc2
        frame.height = 3
        // Luma, then rows of four V and four U.
        frame.dataBuf =
            [UInt8](repeating: 1, count: 24) + [2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5]
        let rows = try frame.made(now: .zero).storage.rows()
        #expect(rows[1] == [[3, 3, 3, 3], [5, 5, 5, 5]])
        #expect(rows[2] == [[2, 2, 2, 2], [4, 4, 4, 4]])
        #expect(rows[0].allSatisfy { $0 == [UInt8](repeating: 1, count: 8) })
    }
}

extension ExternalVideoFrame {
    /// Why no frame can be made; `nil` if one can be made.
    fileprivate var cause: DropCause? {
        do throws(RawPicture.Refusal) { _ = try made(now: .zero) } catch { return error.cause }
        return nil
    }
}
