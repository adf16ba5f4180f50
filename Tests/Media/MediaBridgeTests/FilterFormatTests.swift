import TestSupport
import Testing

@testable import MediaBridge

/// Compares the filters' own loops with GStreamer's elements, and with in-place filtering.
@Suite(.hangGuard) struct FilterFormatTests {
    // Excludes formats that go through a converter, whose dither differs from call to call.
    private static let formats: [VideoPixelFormat] = [
        "I420", "YV12", "A420", "NV12", "NV21", "NV16", "NV24", "Y42B", "Y41B", "Y444", "YUY2",
        "UYVY", "VYUY", "AYUV", "AYUV64", "v308", "I420_10LE", "I422_12BE",
        "Y444_16LE", "P010_10LE", "GRAY8", "GRAY16_LE", "GRAY16_BE", "BGRA", "RGBA", "ARGB",
        "ABGR", "xRGB", "BGRx",
    ]
    private static let sizes = [
        VideoSize(width: 64, height: 48), VideoSize(width: 33, height: 17),
        VideoSize(width: 2, height: 2), VideoSize(width: 1, height: 1),
        VideoSize(width: 70, height: 3),
    ]

    @Test(
        arguments: [
            "I420", "YV12", "NV12", "NV21", "Y444", "YUY2", "UYVY", "YVYU", "AYUV", "I420_10LE",
            "I422_12BE", "GRAY8", "GRAY16_LE", "GRAY16_BE", "BGRA", "RGBA", "ARGB", "ABGR", "xRGB",
            "BGRx", "RGB", "BGR",
        ] as [VideoPixelFormat])
    func mirrorMatchesVideoflip(format: VideoPixelFormat) throws {
        for size in Self.sizes {
            let frame = try DefinedPicture.frame(format, size)
            let element = try FrameConverter().convert(frame, to: VideoConversion(isMirrored: true))
            let own = try #require(try VideoFilter.mirror.process(frame))
            #expect(own.format == element.format)
            #expect(try own.rows == element.rows, "\(format) \(size)")
        }
    }

    /// Formats that videoflip accepts only after a conversion, which loses a little of each sample.
    @Test(
        arguments: [
            "A420", "Y42B", "Y41B", "NV16", "NV24", "Y444_16LE", "P010_10LE", "RGB16", "BGR15",
            "GBR",
            "GBRA", "GBR_10LE",
        ] as [VideoPixelFormat])
    func mirroringTwiceRestoresTheFrame(format: VideoPixelFormat) throws {
        for size in Self.sizes {
            let frame = try DefinedPicture.frame(format, size)
            let once = try #require(try VideoFilter.mirror.process(frame))
            let twice = try #require(try VideoFilter.mirror.process(once))
            #expect(try size.width == 1 || once.rows != frame.rows, "\(format) \(size)")
            #expect(try twice.rows == frame.rows, "\(format) \(size)")
        }
    }

    @Test(arguments: formats) func sharedFrameGivesTheSameResult(
        format: VideoPixelFormat
    ) throws {
        for size in Self.sizes {
            let filter = VideoFilter.grayscale
            let shared = try DefinedPicture.frame(format, size)
            let before = try shared.rows
            let copied = try #require(try filter.process(shared))
            #expect(try shared.rows == before, "\(format) \(size)")
            let written = try #require(
                try filter.process(DefinedPicture.frame(format, size)))
            #expect(try copied.rows == written.rows, "\(format) \(size)")
        }
    }

    /// Formats whose samples do not each occupy their own bytes or words.
    @Test(
        arguments: ["IYU1", "v210", "ARGB64", "UYVP", "RGB16", "RGB", "BGR", "GBR", "GBRA"]
            as [VideoPixelFormat])
    func packedFrameLosesItsColours(format: VideoPixelFormat) throws {
        for size in Self.sizes {
            let frame = try DefinedPicture.frame(format, size)
            let gray = try #require(try VideoFilter.grayscale.process(frame))
            #expect(gray.format == frame.format)
            let colours = try FrameConverter().convert(
                gray, to: VideoConversion(pixelFormat: "AYUV"))
            for row in try colours.rows[0] {
                for at in row.indices where at % 4 >= 2 {
                    #expect(abs(Int(row[at]) - 128) <= 4, "\(format) \(size)")
                }
            }
        }
    }

    @Test func reusedMemoryKeepsNoEarlierPixels() throws {
        let size = VideoSize(width: 33, height: 17)
        for format: VideoPixelFormat in ["I420", "NV12", "BGRA"] {
            for filter in [VideoFilter.grayscale, .mirror] {
                for _ in 0..<8 {
                    var frame = try DefinedPicture.frame(format, size)
                    try frame.withMutablePlanes { planes in
                        for index in 0..<planes.count { planes.clearPadding(index) }
                    }
                    var result = try #require(try filter.process(frame))
                    try result.withMutablePlanes { planes in
                        for index in 0..<planes.count {
                            let plane = planes[index]
                            let layout = plane.layout
                            plane.withUnsafeMutableBytes { bytes in
                                for y in 0..<layout.rows {
                                    let end = (y + 1) * layout.stride
                                    for at in end - layout.stride + layout.rowBytes..<end {
                                        #expect(bytes[at] != 0xAB)
                                    }
                                }
                            }
                            plane.fill(0xAB)
                        }
                    }
                }
            }
        }
    }
}
