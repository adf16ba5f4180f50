/// A codec of pictures. Codecs without a name here have the media type of GStreamer as their name:
/// `VideoCodec(rawValue: "video/x-theora")`.
public struct VideoCodec: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name: `h264`.
    public let rawValue: String

    /// Creates a codec from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// H.264: one access unit. In byte-stream format (start codes) key units include the
    /// parameter sets; with ``EncodedVideoFrame/codecData`` (`avcC`), NAL units follow their
    /// lengths.
    public static let h264 = VideoCodec(rawValue: "h264")
    /// H.265: as ``h264``; the codec data is `hvcC`.
    public static let h265 = VideoCodec(rawValue: "h265")
    /// VP8: one frame.
    public static let vp8 = VideoCodec(rawValue: "vp8")
    /// VP9: one superframe.
    public static let vp9 = VideoCodec(rawValue: "vp9")
    /// AV1: one temporal unit, as a stream of OBUs with sizes.
    public static let av1 = VideoCodec(rawValue: "av1")
    /// One JPEG picture.
    public static let mjpeg = VideoCodec(rawValue: "mjpeg")
    /// FFV1: one picture, lossless.
    public static let ffv1 = VideoCodec(rawValue: "ffv1")

    /// The codecs that have a name here.
    package static let named: Set<VideoCodec> = [.h264, .h265, .vp8, .vp9, .av1, .mjpeg, .ffv1]

    /// The name.
    public var description: String { rawValue }
}
