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

    /// Creates a size, which is not checked (``isValid``).
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The longest side that a picture may have here: the largest that both VP8 and JPEG can hold.
    public static let longestSide = 16383

    /// Whether both sides are from 1 to ``longestSide``.
    public var isValid: Bool {
        (1...Self.longestSide).contains(width) && (1...Self.longestSide).contains(height)
    }

    public var description: String { "\(width)×\(height)" }
}
