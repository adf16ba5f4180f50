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
