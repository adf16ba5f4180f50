// Video modes of the RTC SDKs, with the numbers that those use.

/// What a source captures. Determines whether the local view is mirrored by default.
public enum VideoCaptureType: Int, Sendable {
    /// Not specified.
    case unknown = 0
    /// A camera: the local view is mirrored by default.
    case camera = 1
    /// A screen.
    case screen = 2
}

/// The property of a source's pictures that is most important.
public enum VideoContentHint: Int, Sendable {
    /// Not specified.
    case none = 0
    /// Smooth motion is more important than sharpness.
    case motion = 1
    /// Sharpness is more important than smooth motion.
    case details = 2
    /// Text must be sharp.
    case text = 3
}

/// Whether a picture is mirrored left to right in one view or stream.
public enum VideoMirrorMode: Int, Sendable {
    /// Mirrored in the local view of a camera, and nowhere else.
    case automatic = 0
    /// Always mirrored.
    case enabled = 1
    /// Never mirrored.
    case disabled = 2
}

/// How a picture fills an area with another aspect ratio.
public enum VideoRenderMode: Int, Sendable {
    /// Fills the area; the picture is cropped.
    case hidden = 1
    /// Fits into the area, with borders.
    case fit = 2
}

/// The most of a video track that receivers and the network can use.
public struct VideoLimit: Hashable, Sendable, CustomStringConvertible {
    /// Bits per second; `nil` for any.
    public var bitRate: Int?
    /// The size in pixels; `nil` for any.
    public var size: VideoSize?
    /// Frames per second; `nil` for any.
    public var frameRate: Double?

    /// Creates a limit that allows everything.
    public init() {}

    /// The parts that are limited; `no limit` if none is.
    public var description: String {
        let parts = [
            bitRate.map { "\($0) bit/s" }, size.map { "\($0)" }, frameRate.map { "\($0) fps" },
        ].compactMap { $0 }
        return parts.isEmpty ? "no limit" : parts.joined(separator: ", ")
    }
}
