import MediaCore
import Testing

@Suite struct RawPictureTests {
    static let sizes = [(1, 1), (2, 2), (3, 5), (5, 3), (16, 9), (7, 8)].map {
        VideoSize(width: $0.0, height: $0.1)
    }

    @Test(arguments: PackedFormats.all, sizes)
    func frameIsCopiedWithoutItsPadding(format: VideoPixelFormat, size: VideoSize) throws {
        for stride in [nil, size.width, size.width + 1, size.width + 6] {
            let planes = try format.packedPlanes(size, strideInPixels: stride)
            let bytes = PackedFormats.bytes(planes)
            let taken = try bytes.withUnsafeBytes { bytes in
                try RawPicture(unsafe: bytes, format: format, size: size, strideInPixels: stride)
                    .copied()
            }
            #expect(taken.format == VideoFormat(format, width: size.width, height: size.height))
            #expect(taken.planes == (try format.packedPlanes(size)))
            for (plane, rows) in try taken.rows().enumerated() {
                for (y, row) in rows.enumerated() {
                    #expect(
                        row == row.indices.map { PackedFormats.sample(plane, y, $0) },
                        "plane \(plane), row \(y), stride \(String(describing: stride))")
                }
            }
        }
    }

    @Test func theLastRowNeedsNoPadding() throws {
        let bytes = [UInt8](repeating: 1, count: 8 + 8 + 3)
        try bytes.withUnsafeBytes { bytes in
            let picture = RawPicture(
                unsafe: bytes, format: .gray8, size: VideoSize(width: 3, height: 3),
                strideInPixels: 8)
            let taken = try picture.copied()
            #expect(taken.bytes.count == 9)
            let short = RawPicture(
                unsafe: UnsafeRawBufferPointer(rebasing: bytes.dropLast()), format: .gray8,
                size: VideoSize(width: 3, height: 3), strideInPixels: 8)
            #expect(short.cause == .badSize)
        }
    }

    @Test(arguments: [
        (0, 4), (4, 0), (-1, 4), (4, -1), (16384, 4), (4, 16384), (.max, .max), (.min, .min),
        (.max, 1), (1, .max),
    ])
    func invalidSizeIsRefused(width: Int, height: Int) {
        let bytes = [UInt8](repeating: 0, count: 64)
        let size = VideoSize(width: width, height: height)
        for format in PackedFormats.all {
            bytes.withUnsafeBytes { bytes in
                #expect(RawPicture(unsafe: bytes, format: format, size: size).cause == .badSize)
            }
            #expect(throws: FrameError.self) { try format.packedPlanes(size) }
            #expect(throws: FrameError.self) { try PixelBuffer(format, size: size) }
        }
    }

    @Test(arguments: [7, 0, -8, 65533, .max, .min])
    func aStrideThatDoesNotFitIsRefused(stride: Int) {
        let bytes = [UInt8](repeating: 0, count: 1024)
        for format in PackedFormats.all {
            bytes.withUnsafeBytes { bytes in
                let picture = RawPicture(
                    unsafe: bytes, format: format, size: VideoSize(width: 8, height: 2),
                    strideInPixels: stride)
                #expect(picture.cause == .badStride)
            }
        }
    }

    @Test(arguments: [
        VideoCrop(left: 8), VideoCrop(right: 8), VideoCrop(left: 4, right: 4),
        VideoCrop(top: 6), VideoCrop(bottom: 6), VideoCrop(top: 3, bottom: 3),
        VideoCrop(left: -1), VideoCrop(top: -1), VideoCrop(right: -1), VideoCrop(bottom: -1),
        VideoCrop(left: .max, right: .max), VideoCrop(top: .max, bottom: .max),
        VideoCrop(left: .min), VideoCrop(right: .min), VideoCrop(left: 1, right: .max),
    ])
    func emptyOrNegativeCropIsRefused(crop: VideoCrop) {
        let bytes = [UInt8](repeating: 0, count: 1024)
        bytes.withUnsafeBytes { bytes in
            let picture = RawPicture(
                unsafe: bytes, format: .i420, size: VideoSize(width: 8, height: 6), crop: crop)
            #expect(picture.cause == .badSize)
        }
    }

    @Test func formatWithoutAByteLayoutIsRefused() {
        let bytes = [UInt8](repeating: 0, count: 1024)
        bytes.withUnsafeBytes { bytes in
            for format: VideoPixelFormat in ["v210", "", .any, "NO SUCH"] {
                let picture = RawPicture(
                    unsafe: bytes, format: format, size: VideoSize(width: 8, height: 6))
                #expect(picture.cause == .badFormat)
            }
        }
    }

    @Test func zeroBytesAreRefused() {
        let picture = RawPicture(
            unsafe: UnsafeRawBufferPointer(start: nil, count: 0), format: .i420,
            size: VideoSize(width: 8, height: 6))
        #expect(picture.cause == .badSize)
    }

    @Test func aBlackPictureIsBlackAndOpaque() throws {
        let size = VideoSize(width: 3, height: 3)
        for format in PackedFormats.all {
            let rows = try PixelBuffer(format, size: size).storage.rows()
            let luma: [UInt8] =
                switch format {
                case .bgra, .rgba: [0, 0, 0, 255]
                case .argb: [255, 0, 0, 0]
                case .gray8: [0]
                default: [16]
                }
            let row = (0..<3).flatMap { _ in luma }
            #expect(rows[0] == [row, row, row])
            for chroma in rows.dropFirst() {
                #expect(chroma.allSatisfy { $0.allSatisfy { $0 == 128 } })
            }
        }
    }
}

extension RawPicture {
    /// The cause of the refusal; `nil` if the picture is accepted.
    var cause: DropCause? {
        do throws(RawPicture.Refusal) { _ = try copied() } catch { return error.cause }
        return nil
    }
}
