import Foundation
import GStreamerKit
import TestSupport
import Testing

/// Strings written for a shell, pasted where no shell reads them.
@Suite struct PastedTextTests {
    @Test(arguments: [
        ("videotestsrc ! \\\n  fakesink", "videotestsrc ! fakesink"),
        ("videotestsrc ! \\  \r\n\tfakesink", "videotestsrc ! fakesink"),
        ("videotestsrc \\\n! fakesink \\", "videotestsrc ! fakesink"),
        // The form that a folded YAML scalar leaves.
        ("videotestsrc \\ ! \\ fakesink", "videotestsrc ! fakesink"),
        (
            "videotestsrc \\! fakesink '!' fakesink \"!\" fakesink",
            "videotestsrc ! fakesink ! fakesink ! fakesink"
        ),
        ("\\( videotestsrc ! fakesink \\)", "( videotestsrc ! fakesink )"),
        (
            "a ! video/x-raw,framerate=\\(fraction\\)5/1 ! b",
            "a ! video/x-raw,framerate=(fraction)5/1 ! b"
        ),
        (
            "a ! video/x-raw,framerate='(fraction)'5/1 ! b",
            "a ! video/x-raw,framerate=(fraction)5/1 ! b"
        ),
        (
            "a ! video/x-raw,format=\"(string)\"I420 ! b",
            "a ! video/x-raw,format=(string)I420 ! b"
        ),
        ("filesink location='a b.h264'", "filesink location=\"a b.h264\""),
        ("textoverlay text='say \"hi\"'", "textoverlay text=\"say \\\"hi\\\"\""),
        ("gst-launch-1.0 -v -e videotestsrc ! fakesink", "videotestsrc ! fakesink"),
        ("$ GST_DEBUG=3 /usr/bin/gst-launch-1.0 -ev --gst-debug=3 a ! b", "a ! b"),
        ("sudo gst-launch-0.10 a ! b -v", "a ! b"),
        ("-v a ! b", "a ! b"),
    ])
    func shellSyntaxIsRemoved(text: String, plain: String) {
        #expect(PipelineText(text).plain == plain)
        #expect(PipelineText(text).text == text)
        // A second pass changes nothing.
        #expect(PipelineText(plain).plain == plain)
    }

    @Test(arguments: [
        "filesrc location=my\\ film.mp4 ! fakesink",
        "textoverlay text=it's ! fakesink",
        "textoverlay text=\"a \\! b \\\\ c\" ! fakesink",
        "textoverlay text=\"don't\" ! fakesink",
        "filesrc location=a/\\(1\\).mp4 ! fakesink",
        "fakesrc name=gst-launch-1.0 ! fakesink",
        "fakesink ts-offset=-5",
        "souphttpsrc location=http://host/a?b=c&d='e'",
        "a ! video/x-raw(memory:GLMemory),width=3 ! b",
        "",
    ])
    func pipelineSyntaxIsKept(text: String) {
        #expect(PipelineText(text).plain == text)
    }

    @Test func quotedTextMayContainOnlyCaps() throws {
        _ = try Pipeline(
            parsing: "videotestsrc ! \"video/x-raw,width=64; video/x-bayer\" ! fakesink")
        #expect(throws: PipelineError.self) {
            try Pipeline(parsing: "videotestsrc ! \"video/x-raw; filesink location=x\" ! fakesink")
        }
    }

    /// Compared with gst-launch-1.0 behind a real shell: both build the same pipeline.
    @Test(arguments: [
        "videotestsrc num-buffers=1 \\! video/x-raw,framerate=\\(fraction\\)5/1 ! \\\n filesink location='a b'",
        "videotestsrc num-buffers=1 '!' video/x-raw,width='(int)'64 ! filesink location='a b'",
        "\\( videotestsrc num-buffers=1 \\) ! filesink location=\"a b\"",
        "videotestsrc num-buffers=1 ! filesink location='a 'b",
    ])
    func pastedTextRunsAsInAShell(text: String) async throws {
        try await withTemporaryDirectory { directory in
            try await Tool.check(
                "sh", ["-c", "cd '\(directory.path)' && gst-launch-1.0 -q \(text)"])
            let whole = directory.contents
            #expect(whole == ["a b"])
            let ours = PipelineText(text).plain.replacing("a b", with: directory.file("ours"))
            try await Pipeline(parsing: ours).playToTheEnd()
            let files = ["ours", "a b"].map { URL(fileURLWithPath: directory.file($0)) }
            #expect(try Data(contentsOf: files[0]) == Data(contentsOf: files[1]))
        }
    }
}
