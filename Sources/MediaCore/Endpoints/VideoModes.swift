// Choices of the RTC SDKs for one video, with the numbers that they use.

/// What a source captures. Decides whether the local view is a mirror by default.
public enum VideoCaptureType: Int, Sendable {
    case unknown = 0
    case camera = 1
    case screen = 2
}

/// What matters in a source's pictures.
public enum VideoContentHint: Int, Sendable {
    case none = 0
    /// Smoothness before sharpness.
    case motion = 1
    /// Sharpness before smoothness.
    case details = 2
    /// Sharpness of text.
    case text = 3
}

/// Whether a picture is mirrored left to right at one place.
public enum VideoMirrorMode: Int, Sendable {
    /// On for the local view of a camera, off everywhere else.
    case automatic = 0
    case enabled = 1
    case disabled = 2
}

/// How a picture fills a space of another shape.
public enum VideoRenderMode: Int, Sendable {
    /// Fills it, and is cropped.
    case hidden = 1
    /// Fits into it, with borders.
    case fit = 2
}
