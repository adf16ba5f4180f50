import TestSupport
import Testing

@testable import GStreamerKit
@testable import MediaBridge

/// Pictures before the first key frame.
@Suite("Undecodable pictures", .hangGuard) struct UndecodablePictureTests {
    @Test(arguments: [
        ("udpsrc ! h264parse", false), ("filesrc location=film.h264 ! h264parse", true),
    ])
    func onlyAFileShowsFramesBeforeItsFirstKeyframe(source: String, isShown: Bool) throws {
        let capture = try Capture("\(source) ! avdec_h264 name=decoder ! videoconvert", depth: 3)
        let decoder = try #require(capture.pipeline.element(named: "decoder"))
        #expect(decoder.bool("output-corrupt") == isShown)
    }
}
