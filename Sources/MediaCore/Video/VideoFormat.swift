/// The format of a frame: pixel layout, size in pixels, and the frame rate of the stream.
///
/// Each frame has its own format, and it may change from frame to frame: if the caps of a capture
/// change, the next frame has the new format.
public struct VideoFormat: Hashable, Sendable {
    /// The layout, by GStreamer's name.
    public var pixelFormat: VideoPixelFormat
    /// The width in pixels.
    public var width: Int
    /// The height in rows.
    public var height: Int
    /// Frames per second; `nil` if the stream has no fixed rate.
    public var frameRate: Rational?
    /// The width of a pixel divided by its height; 1/1 for square pixels.
    public var pixelAspectRatio: Rational
    /// GStreamer's colorimetry string (`bt709`, `2:4:16:3`); `nil` for the format's default.
    public var colorimetry: String?

    /// Creates a format, by default with square pixels and without a fixed frame rate.
    public init(
        _ pixelFormat: VideoPixelFormat,
        width: Int,
        height: Int,
        frameRate: Rational? = nil,
        pixelAspectRatio: Rational = Rational(1, 1),
        colorimetry: String? = nil
    ) {
        self.pixelFormat = pixelFormat
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.pixelAspectRatio = pixelAspectRatio
        self.colorimetry = colorimetry
    }

    /// The width and the height.
    var size: VideoSize { VideoSize(width: width, height: height) }

    /// A ratio of two integers, not reduced: 30000/1001 frames per second, or a pixel aspect ratio
    /// of 16/15.
    public struct Rational: Hashable, Sendable, CustomStringConvertible {
        /// The number above the line.
        public var numerator: Int
        /// The number below the line; zero makes ``value`` zero.
        public var denominator: Int

        /// Creates a ratio without reducing it.
        public init(_ numerator: Int, _ denominator: Int) {
            self.numerator = numerator
            self.denominator = denominator
        }

        /// The ratio as a floating-point number; zero if the denominator is zero.
        public var value: Double {
            denominator == 0 ? 0 : Double(numerator) / Double(denominator)
        }

        public var description: String { "\(numerator)/\(denominator)" }
    }
}

extension VideoFormat: CustomStringConvertible {
    /// `I420 1280×720 25/1`
    public var description: String {
        "\(pixelFormat) \(width)×\(height)" + (frameRate.map { " \($0)" } ?? "")
    }
}

/// Width and height of a picture, in pixels.
public struct VideoSize: Hashable, Sendable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size, which is not checked.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The longest side that a picture may have here: the largest that both VP8 and JPEG can hold.
    package static let longestSide = 16383

    /// Whether both sides are from 1 to ``longestSide``.
    package var isValid: Bool {
        (1...Self.longestSide).contains(width) && (1...Self.longestSide).contains(height)
    }

    public var description: String { "\(width)×\(height)" }
}

/// How far a picture must be turned clockwise to stand upright.
public enum VideoRotation: Int, Sendable, CaseIterable {
    /// No turn.
    case upright = 0
    /// A quarter turn clockwise.
    case rotation90 = 90
    /// Half a turn.
    case rotation180 = 180
    /// Three quarters of a turn clockwise.
    case rotation270 = 270
}

// MARK: Pixel formats

/// The name of a pixel layout, as GStreamer's caps spell it: `I420`, `NV12`, `BGRA`, `I420_10LE` ….
///
/// Any format that GStreamer knows can be a value; the constants are the formats that RTC code uses
/// most. Layouts (planes, offsets, strides) are never derived from the name here: they come with
/// each frame.
public struct VideoPixelFormat: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// GStreamer's name.
    public let rawValue: String

    /// Creates a format from GStreamer's name, which is not checked.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a format from GStreamer's name, which is not checked.
    public init(stringLiteral value: String) { self.rawValue = value }

    /// No particular format: a sink that returns this receives frames unconverted.
    public static let any: VideoPixelFormat = "ANY"

    /// 8-bit planar YUV 4:2:0: Y, U, V.
    public static let i420: VideoPixelFormat = "I420"
    /// 8-bit YUV 4:2:0: Y, then U and V interleaved.
    public static let nv12: VideoPixelFormat = "NV12"
    /// 8-bit YUV 4:2:0: Y, then V and U interleaved.
    public static let nv21: VideoPixelFormat = "NV21"
    /// 8-bit planar YUV 4:2:2.
    public static let i422: VideoPixelFormat = "Y42B"
    /// 8-bit packed blue, green, red, alpha.
    public static let bgra: VideoPixelFormat = "BGRA"
    /// 8-bit packed red, green, blue, alpha.
    public static let rgba: VideoPixelFormat = "RGBA"
    /// 8-bit packed alpha, red, green, blue.
    public static let argb: VideoPixelFormat = "ARGB"
    /// 8-bit luminance only, from 0 (black) to 255 (white).
    public static let gray8: VideoPixelFormat = "GRAY8"
}

extension VideoPixelFormat: CustomStringConvertible {
    public var description: String { rawValue }
}

extension VideoPixelFormat {
    /// Returns the planes of a picture in the memory layout of RTC SDKs: rows without padding
    /// except for the given stride, chroma rows of half the length (rounded up), and planes without
    /// gaps.
    ///
    /// - Parameters:
    ///   - size: The size of the picture in pixels.
    ///   - strideInPixels: The stride of the first plane in pixels; `nil` for the width.
    /// - Throws: ``FrameError``: ``FrameError/Code/badFormat`` for a format that the SDKs do not
    ///   use, or a size out of range; ``FrameError/Code/badLayout`` for a stride smaller than the
    ///   width, or larger than 65,532.
    public func packedPlanes(
        _ size: VideoSize, strideInPixels: Int? = nil
    ) throws(FrameError) -> [VideoPlaneLayout] {
        guard size.isValid else {
            throw FrameError(.badFormat, "\(size) is not a valid frame size")
        }
        let stride = strideInPixels ?? size.width
        guard stride >= size.width, stride <= Self.longestStride else {
            throw FrameError(
                .badLayout, "a stride of \(stride) pixels does not fit rows of \(size.width)")
        }
        let (rows, halfRows) = (size.height, (size.height + 1) / 2)
        let (half, halfStride) = ((size.width + 1) / 2, (stride + 1) / 2)
        func plane(
            _ offset: Int, _ stride: Int, _ rows: Int, _ width: Int, _ pixel: Int = 1
        ) -> VideoPlaneLayout {
            VideoPlaneLayout(
                offset: offset, stride: stride, rows: rows, width: width, pixelStride: pixel)
        }
        let luma = plane(0, stride, rows, size.width)
        let chroma = stride * rows
        switch self {
        case .i420:
            return [
                luma, plane(chroma, halfStride, halfRows, half),
                plane(chroma + halfStride * halfRows, halfStride, halfRows, half),
            ]
        case .i422:
            return [
                luma, plane(chroma, halfStride, rows, half),
                plane(chroma + halfStride * rows, halfStride, rows, half),
            ]
        case .nv12, .nv21:
            return [luma, plane(chroma, 2 * halfStride, halfRows, half, 2)]
        case .bgra, .rgba, .argb:
            return [plane(0, 4 * stride, rows, size.width, 4)]
        case .gray8:
            return [luma]
        default:
            throw FrameError(
                .badFormat,
                "\(self) is not one of the formats that can be passed as plain bytes")
        }
    }

    /// The largest stride that is accepted, in pixels.
    package static let longestStride = 4 * VideoSize.longestSide

    /// Returns the number of bytes from the start of the memory to the end of the last of `planes`.
    package static func byteCount(of planes: [VideoPlaneLayout]) -> Int {
        planes.map { $0.offset + $0.stride * ($0.rows - 1) + $0.rowBytes }.max() ?? 0
    }
}
