/// Turns or mirrors the picture, with GStreamer's `videoflip`; the pixel format stays.
public final class FlipFilter: VideoProcessor {
    /// What to do with the picture.
    public enum Method: String, Sendable, CaseIterable {
        /// Left becomes right.
        case mirror = "horiz"
        /// Clockwise, by degrees.
        case rotate90 = "90r"
        case rotate180 = "180"
        case rotate270 = "90l"
    }
    private let converter: ConverterFilter

    public init(_ method: Method) {
        converter = ConverterFilter { format in
            "videoconvert ! videoflip video-direction=\(method.rawValue) ! videoconvert "
                + "! capsfilter caps=\"video/x-raw, format=\(format.pixelFormat)\""
        }
    }

    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        try converter.process(frame)
    }
}
