/// What a frame is: its pixel layout by name, its size in pixels and the stream's frame rate.
///
/// It belongs to one frame and may change from frame to frame: a capture whose caps change delivers
/// the next frame with the new format.
public struct VideoFormat: Hashable, Sendable {
    /// The layout, by GStreamer's name.
    public var pixelFormat: VideoPixelFormat
    /// Pixels in a row.
    public var width: Int
    /// Rows.
    public var height: Int
    /// Frames a second; `nil` where the stream has no fixed rate.
    public var frameRate: Rational?
    /// Width of a pixel over its height; 1/1 for square pixels.
    public var pixelAspectRatio: Rational
    /// GStreamer's colorimetry string (`bt709`, `2:4:16:3`); `nil` for the format's default.
    public var colorimetry: String?

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

    /// A ratio of two integers, not reduced: 30000/1001 frames a second, 16/15 pixels.
    public struct Rational: Hashable, Sendable, CustomStringConvertible {
        public var numerator: Int
        public var denominator: Int

        public init(_ numerator: Int, _ denominator: Int) {
            self.numerator = numerator
            self.denominator = denominator
        }

        /// Zero where the denominator is.
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
