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
    /// 8-bit luminance only.
    public static let gray8: VideoPixelFormat = "GRAY8"
}

extension VideoPixelFormat: CustomStringConvertible {
    public var description: String { rawValue }
}
