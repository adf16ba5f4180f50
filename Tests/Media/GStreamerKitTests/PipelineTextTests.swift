import GStreamerKit
import Testing

@Suite struct PipelineTextTests {
    @Test(arguments: [
        ("videotestsrc ! fakesink", ["videotestsrc", "!", "fakesink"]),
        ("  a \n\t b  ", ["a", "b"]),
        ("a text=\"x y\" b", ["a", "text=\"x y\"", "b"]),
        ("a text='x \" y' b", ["a", "text=\"x \\\" y\"", "b"]),
        ("a text=x\\ y b", ["a", "text=x\\ y", "b"]),
        ("a text=\"x \\\" y\" b", ["a", "text=\"x \\\" y\"", "b"]),
        ("a \"unbalanced b", ["a", "\"unbalanced b"]),
        ("a\r\nb", ["a", "b"]),
        ("a\\", ["a\\"]),
        ("", []),
        (" \n ", []),
    ])
    func wordsAreSplitAtBlanksOutsideOfQuotes(text: String, words: [String]) {
        #expect(PipelineText(text).words == words)
        #expect(PipelineText(text).text == text)
    }

    @Test func anElementIsFoundWithItsProperties() {
        let text = PipelineText(
            "v4l2src ! appsink name=\"main\" max-buffers=2 ! x ( appsink ) appsinks appsink")
        let found = text.mentions(of: ["appsink"])
        #expect(found.map(\.name) == ["main", nil, nil])
        #expect(found.first?.properties == ["name": "main", "max-buffers": "2"])
        #expect(found.allSatisfy { $0.factory == "appsink" })
    }

    @Test func quotedElementNameIsIgnored() {
        #expect(
            PipelineText("textoverlay text=\"an appsink here\"").mentions(of: ["appsink"]) == [])
    }

    @Test func duplicateNamesAreFoundOnce() {
        #expect(PipelineText("a name=x b name=y c name=x d name=x").duplicateNames == ["x"])
        #expect(PipelineText("a name=x b name=\"x\"").duplicateNames == ["x"])
        #expect(PipelineText("( a name=x ) ( b name=x)").duplicateNames == ["x"])
        #expect(PipelineText("a name=x b name=X ! y,name=x").duplicateNames == [])
        #expect(PipelineText("a text=\"name=x\" name=x").duplicateNames == [])
    }
}
