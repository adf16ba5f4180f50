import GStreamerKit
import Testing

@Suite struct VideoInfoTests {
    /// The formats that `gst-inspect-1.0 videoconvert` lists in 1.22.
    static let formats = """
        ABGR64_LE BGRA64_LE AYUV64 ARGB64_LE ARGB64 RGBA64_LE ABGR64_BE BGRA64_BE ARGB64_BE RGBA64_BE
        GBRA_12LE GBRA_12BE Y412_LE Y412_BE A444_10LE GBRA_10LE A444_10BE GBRA_10BE A422_10LE
        A422_10BE A420_10LE A420_10BE RGB10A2_LE BGR10A2_LE Y410 GBRA ABGR VUYA BGRA AYUV ARGB RGBA
        A420 AV12 Y444_16LE Y444_16BE v216 P016_LE P016_BE Y444_12LE GBR_12LE Y444_12BE GBR_12BE
        I422_12LE I422_12BE Y212_LE Y212_BE I420_12LE I420_12BE P012_LE P012_BE Y444_10LE GBR_10LE
        Y444_10BE GBR_10BE r210 I422_10LE I422_10BE NV16_10LE32 Y210 v210 UYVP I420_10LE I420_10BE
        P010_10LE NV12_10LE32 NV12_10LE40 P010_10BE Y444 RGBP GBR BGRP NV24 xBGR BGRx xRGB RGBx BGR
        IYU2 v308 RGB Y42B NV61 NV16 VYUY UYVY YVYU YUY2 I420 YV12 NV21 NV12 NV12_64Z32 NV12_4L4
        NV12_32L32 Y41B IYU1 YVU9 YUV9 RGB16 BGR16 RGB15 BGR15 RGB8P GRAY16_LE GRAY16_BE GRAY10_LE32
        GRAY8
        """.split(whereSeparator: \.isWhitespace).map(String.init)

    @Test(arguments: formats) func everyFormatHasALayoutThatFitsItsFrames(format: String) throws {
        for (width, height) in [(64, 48), (1, 1), (33, 17), (641, 481)] {
            let info = try VideoInfo(format: format, width: width, height: height)
            #expect(info.format == format)
            #expect(info.width == width && info.height == height)
            #expect(info.byteCount > 0)
            #expect(!info.planeLayouts.isEmpty && !info.components.isEmpty)
            // A conversion to caps and back yields the same format.
            let again = try #require(VideoInfo(info.caps))
            #expect(again.format == format && again.byteCount == info.byteCount)

            let allocated = Buffer.allocate(byteCount: info.byteCount)
            guard let buffer = allocated else {
                Issue.record("no memory")
                return
            }
            guard let mapped = MappedVideoFrame(buffer, info, .read) else {
                Issue.record("a frame in the default layout cannot be mapped")
                return
            }
            let planes = (0..<mapped.planeCount).map { mapped.plane($0) }
            #expect(planes.count == info.planeLayouts.count)
            for (plane, layout) in zip(planes, info.planeLayouts) {
                #expect(plane.memory.count <= info.byteCount)
                let own = plane.layout
                #expect(own.stride == layout.stride && own.rows == layout.rows)
                #expect(own.width == layout.width && own.depth == layout.depth)
                guard !info.isComplex else { continue }
                let rowBytes =
                    own.pixelStride > 0 ? min(own.stride, own.width * own.pixelStride) : own.stride
                #expect(
                    own.stride * (own.rows - 1) + rowBytes <= plane.memory.count,
                    "\(format) \(width)×\(height): rows beyond the memory")
            }
        }
    }

    @Test func planesOfCommonFormatsAreCorrect() throws {
        let i420 = try VideoInfo(format: "I420", width: 5, height: 3).planeLayouts
        #expect(i420.map(\.width) == [5, 3, 3])
        #expect(i420.map(\.rows) == [3, 2, 2])
        #expect(i420.map(\.stride) == [8, 4, 4])
        let nv12 = try VideoInfo(format: "NV12", width: 6, height: 4).planeLayouts
        #expect(nv12.map(\.width) == [6, 3])
        #expect(nv12.map(\.pixelStride) == [1, 2])
        let bgra = try VideoInfo(format: "BGRA", width: 6, height: 4).planeLayouts
        #expect(bgra.map(\.pixelStride) == [4] && bgra.map(\.stride) == [24])
        let p010 = try VideoInfo(format: "P010_10LE", width: 6, height: 4)
        #expect(p010.planeLayouts.map(\.depth) == [10, 10])
        #expect(p010.components.first?.shift == 6)
    }

    @Test func formatsHaveTheirColourFamily() throws {
        func family(_ format: String) throws -> VideoInfo.ColorFamily {
            try VideoInfo(format: format, width: 8, height: 8).colorFamily
        }
        for format in ["I420", "YUY2", "v210", "AYUV64"] { #expect(try family(format) == .yuv) }
        for format in ["BGRA", "RGB", "GBR_10LE"] { #expect(try family(format) == .rgb) }
        for format in ["GRAY8", "GRAY16_LE"] { #expect(try family(format) == .gray) }
        #expect(try !VideoInfo(format: "GRAY16_BE", width: 8, height: 8).isLittleEndian)
        #expect(try VideoInfo(format: "NV12_64Z32", width: 64, height: 64).isComplex)
    }

    @Test(arguments: [
        ("NOSUCH", 4, 4), ("", 4, 4), ("ENCODED", 4, 4), ("I420", 0, 4), ("I420", 4, -1),
        ("I420", 32769, 4), ("I420", .max, .max), ("i420", 4, 4),
    ])
    func unknownFormatIsABadValue(format: String, width: Int, height: Int) {
        let error = #expect(throws: PipelineError.self) {
            try VideoInfo(format: format, width: width, height: height)
        }
        #expect(error?.code == .badValue)
    }

    @Test(arguments: [(30, 0), (-1, 1), (30, -1)]) func invalidFrameRateIsABadValue(
        rate: (Int, Int)
    ) {
        let error = #expect(throws: PipelineError.self) {
            try VideoInfo(format: "I420", width: 4, height: 4, frameRate: rate)
        }
        #expect(error?.code == .badValue)
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1)]) func invalidPixelAspectRatioIsABadValue(
        ratio: (Int, Int)
    ) {
        let error = #expect(throws: PipelineError.self) {
            try VideoInfo(format: "I420", width: 4, height: 4, pixelAspectRatio: ratio)
        }
        #expect(error?.code == .badValue)
    }

    @Test func capsCarryFrameRateAspectRatioAndColour() throws {
        let info = try VideoInfo(
            format: "I420", width: 64, height: 48, frameRate: (30000, 1001),
            pixelAspectRatio: (16, 15), colorimetry: "bt709")
        let again = try #require(VideoInfo(info.caps))
        #expect(again.frameRate?.numerator == 30000 && again.frameRate?.denominator == 1001)
        #expect(again.pixelAspectRatio.numerator == 16 && again.pixelAspectRatio.denominator == 15)
        #expect(again.colorimetry == "bt709")
        let still = try VideoInfo(format: "I420", width: 64, height: 48)
        #expect(still.frameRate == nil)
    }

    @Test(arguments: [
        "audio/x-raw,format=S16LE,rate=44100,channels=2,layout=interleaved", "video/x-h264",
        "video/x-raw",
        "video/x-raw,format=I420", "video/x-raw,format=I420,width=[1,10],height=4",
        "video/x-raw,format={I420,NV12},width=4,height=4",
        "video/x-raw,format=NOSUCH,width=4,height=4",
        "video/x-raw,format=I420,width=0,height=4", "video/x-raw,format=I420,width=-4,height=4",
    ])
    func incompleteCapsHaveNoLayout(text: String) throws {
        #expect(VideoInfo(try Caps(text)) == nil)
    }
}
