import MediaBridge

/// Captures without hardware, as gst-launch strings.
enum TestPicture: String {
    case bars = "smpte"
    case ball = "ball background-color=0xff205080"

    /// A capture that ends after two seconds, as a film does.
    var film: String { "videotestsrc num-buffers=60 pattern=\(rawValue) ! \(Self.caps)" }

    /// A live capture without an end, as a camera is.
    var camera: String { "videotestsrc is-live=true pattern=\(rawValue) ! \(Self.caps)" }

    private static let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
}
