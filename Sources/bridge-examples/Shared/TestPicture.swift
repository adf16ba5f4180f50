/// Captures that need no hardware, as gst-launch strings.
enum TestPicture: String {
    case bars = "smpte"
    case ball = "ball background-color=0xff205080"
    case snow = "snow"

    /// Two seconds that end, as a film does.
    var film: String { "videotestsrc num-buffers=60 pattern=\(rawValue) ! \(Self.caps)" }

    /// Goes on for ever, as a camera does.
    var camera: String { "videotestsrc is-live=true pattern=\(rawValue) ! \(Self.caps)" }

    private static let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
}
