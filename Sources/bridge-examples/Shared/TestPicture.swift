/// Captures that need no hardware, as gst-launch strings.
enum TestPicture {
    private static let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"

    /// Two seconds that end, as a file does.
    static func film(_ pattern: String) -> String {
        "videotestsrc num-buffers=60 pattern=\(pattern) ! \(caps)"
    }

    /// Goes on for ever, as a camera does.
    static func camera(_ pattern: String) -> String {
        "videotestsrc is-live=true pattern=\(pattern) ! \(caps)"
    }
}
