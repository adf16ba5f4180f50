/// Which encoder of pictures is used.
public enum EncoderChoice: Hashable, Sendable {
    /// The first that works on this machine, software before hardware.
    case automatic
    /// The first of software that works: `x264enc`, `x265enc` and others.
    case software
    /// The first of hardware that works: those of VA-API (`vah264enc`), NVIDIA (`nvh264enc`), Intel's Quick Sync
    /// (`qsvh264enc`) and V4L2 (`v4l2h264enc`, Raspberry Pi 4).
    case hardware
    /// An element, by its factory name.
    case element(String)
}

/// What the pictures of a recording lose. The same name means about the same likeness with every codec; encoders without
/// a constant quality get half the usual bit rate, the usual one, or twice as much.
public enum VideoQuality: String, Hashable, Sendable, CaseIterable {
    /// For previews: the smallest files.
    case low
    /// For looking at: differences are seen in a direct comparison.
    case medium
    /// For further use; the default of H.264, H.265 and MJPEG.
    case high
    /// Nothing but what a conversion for the encoder loses, which the report states. H.264, H.265, VP9 and FFV1.
    case lossless
}
