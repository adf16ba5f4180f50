import GStreamerKit
import Testing

@Suite struct CapsTests {
    @Test func capsAreReadAndPrinted() throws {
        let caps = try Caps("video/x-raw, format=I420, width=64")
        #expect(caps.mediaType == "video/x-raw")
        #expect(caps.description.contains("format=(string)I420"))
        #expect(caps.description.contains("width=(int)64"))
    }

    @Test func capsOfTheSameContentAreEqualAndNotIdentical() throws {
        let (a, b) = (
            try Caps("video/x-raw,width=1,height=2"), try Caps("video/x-raw,height=2,width=1")
        )
        #expect(a.isEqual(to: b))
        #expect(a.identity != b.identity)
        #expect(!a.isEqual(to: try Caps("video/x-raw,width=1")))
    }

    @Test(arguments: [
        "video/x-raw,width", "not caps", "video/x-raw,width=(int)x", "\"", "=", ";",
    ])
    func invalidCapsAreASyntaxError(text: String) {
        let error = #expect(throws: PipelineError.self) { try Caps(text) }
        #expect(error?.code == .syntax)
    }

    @Test(arguments: ["ANY", "EMPTY", "NONE"]) func capsWithoutAStructureHaveNoMediaType(
        text: String
    ) throws {
        let caps = try Caps(text)
        #expect(caps.mediaType == "ANY")
        #expect(VideoInfo(caps) == nil)
    }

    @Test func theFirstStructureGivesTheMediaType() throws {
        #expect(try Caps("audio/x-raw; video/x-raw").mediaType == "audio/x-raw")
    }
}
