import GStreamerKit
import TestSupport
import Testing

/// A syntax error states its position.
@Suite(.hangGuard) struct SyntaxFaultTests {
    @Test(arguments: [
        ("videotestsrc ! ! fakesink", "at \"! ! fakesink\"", "remove one !"),
        ("videotestsrc ! video/x-raw ! ! fakesink", "at \"! video/x-raw ! …\"", "remove one !"),
        ("videotestsrc !", "at \"videotestsrc !\"", "without an element after it"),
        (
            "fakesrc ! identity ! fakesink !", "at \"identity ! fakesink !\"",
            "without an element after"
        ),
        ("fakesrc ! num-buffers=3 ! fakesink", "at \"num-buffers=3 ! fakesink\"", "no element"),
        (
            "num-buffers=3 fakesrc ! fakesink", "at \"num-buffers=3 fakesrc ! fakesink\"",
            "no element"
        ),
        ("fakesrc ! = ! fakesink", "at \"= ! fakesink\"", "no \"=\" here"),
        ("fakesrc ! \"identity ! fakesink", "at '\"identity ! fakesink'", "quote"),
        ("fakesrc ! ( identity ! fakesink", "at \"( identity ! fakesink\"", "never closed"),
        ("fakesrc ! bin.( identity ! fakesink", "at \"bin.( identity ! fakesink\"", "never closed"),
        ("fakesrc ! identity ) ! fakesink", "at \") ! fakesink\"", "without a ("),
        ("fakesrc ! ( identity ! ) ! fakesink", "at \") ! fakesink\"", "without an element"),
        (
            "fakesrc ! tee name=t ! t. ! identity ! fakesink", "at \"! identity ! fakesink\"",
            "end of a chain"
        ),
        ("fakesrc , identity ! fakesink", "at \", identity ! fakesink\"", "comma"),
        ("fakesrc ! % ! fakesink", "at \"% ! fakesink\"", "no \"%\" here"),
        ("!!", "at \"!!\"", "nothing before"),
    ])
    func syntaxErrorStatesPositionAndCause(text: String, place: String, words: String) {
        let error = #expect(throws: PipelineError.self) { try Pipeline(parsing: text) }
        #expect(error?.code == .syntax, "\(error!)")
        #expect(error?.message.contains("syntax error \(place): ") == true, "\(error!)")
        #expect(error?.description.contains(words) == true, "\(error!)")
    }

    /// GStreamer reports only "syntax error" for some strings; the position is added to the message.
    @Test(arguments: 0..<24) func everySyntaxErrorHasAPlace(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let words = [
            "fakesrc", "identity", "fakesink", "tee", "name=a", "silent=true", "!", "!", "!", ":",
            "a.", "a.src", ".src", "(", ")", "bin.(", "bin.", ",", "video/x-raw,width=3", "=", "%",
            "file:///a", "\"", "'video/x-raw'", ";", ".", "@preset=x",
        ]
        var errors = 0
        for _ in 0..<60 {
            let text = (0..<Int.random(in: 1...9, using: &generator))
                .map { _ in words.randomElement(using: &generator)! }.joined(separator: " ")
            do {
                _ = try Pipeline(parsing: text)
            } catch {
                let isPlain = error.domain == "gst_parse_error" && error.domainCode == 0
                guard isPlain, !error.message.contains("unexpected") else { continue }
                errors += 1
                #expect(
                    error.message.contains("syntax error at "), "seed \(seed): \(text): \(error)")
            }
        }
        #expect(errors > 0)
    }
}
