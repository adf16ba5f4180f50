import GStreamerKit
import TestSupport
import Testing

/// When a longer string is cut at a `!`, the `!` is removed from both parts.
@Suite(.hangGuard) struct CutTextTests {
    @Test(arguments: [
        ("videotestsrc ! videoconvert !", "videotestsrc ! videoconvert"),
        ("! fakesink", "fakesink"),
        ("! videoconvert ! fakesink", "videoconvert ! fakesink"),
        ("videotestsrc ! video/x-raw,width=64 !", "videotestsrc ! video/x-raw,width=64"),
        ("videotestsrc \\!", "videotestsrc"),
        ("videotestsrc ! \\\n", "videotestsrc"),
        ("'!' fakesink", "fakesink"),
        ("gst-launch-1.0 -v videotestsrc !", "videotestsrc"),
        ("videotestsrc!", "videotestsrc"),
        ("!fakesink", "fakesink"),
        ("videotestsrc ! !", "videotestsrc"),
    ])
    func exclamationMarkOfACutIsRemoved(text: String, plain: String) {
        #expect(PipelineText(text).plain == plain)
        #expect(PipelineText(plain).plain == plain)
    }

    @Test(arguments: [
        "!", "! !", "a ! ! b", "textoverlay text=hi!", "textoverlay text=\"hi !\"", "",
        "filesink location=a\\ !", "a ! b. c.",
    ])
    func otherExclamationMarksAreKept(text: String) { #expect(PipelineText(text).plain == text) }
}
