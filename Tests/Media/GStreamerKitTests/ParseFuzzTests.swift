import GStreamerKit
import TestSupport
import Testing

/// Nonsense strings: each one is a pipeline or an error, and never ends the process.
@Suite(.hangGuard) struct ParseFuzzTests {
    /// Only elements that open nothing, because a string that happens to be valid is really parsed.
    private static let fragments = [
        "videotestsrc", "fakesrc", "fakesink", "identity", "tee", "queue", "capsfilter", "bin",
        "nosuch", "!", "!", "!", ":", ".", "a.", "b.", "t.src_%u", "a.sink", ".src", "(", ")", "(",
        ")", "bin.(", "fakesrc.(", "\"", "'", "\\", "name=a", "name=t", "name=", "=",
        "pattern=ball",
        "pattern=nosuch", "num-buffers=1", "caps=video/x-raw", "video/x-raw", "audio/x-raw",
        "video/x-raw,format=I420", "video/x-raw(memory:x)", "::", "a::b=1", ",", ";", "%", "@", "{",
        "}", "[", "]", "é", "🎥", "\n", "\t", "file:///nowhere", "x://", "-", "--", "0", "/", "//",
    ]

    @Test(arguments: 0..<8) func noStringCrashesTheParser(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var parsed = 0
        for _ in 0..<500 {
            var text = ""
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                text += Self.fragments.randomElement(using: &generator) ?? ""
                if Int.random(in: 0..<4, using: &generator) > 0 { text += " " }
            }
            do {
                let pipeline = try Pipeline(parsing: text)
                parsed += 1
                #expect(!pipeline.elements.isEmpty, "\(text)")
            } catch {
                #expect(!error.message.isEmpty, "\(text)")
            }
        }
        #expect(parsed > 0, "no string was good: the fragments are badly chosen")
    }
}
