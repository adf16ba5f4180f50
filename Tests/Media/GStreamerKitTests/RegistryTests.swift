import TestSupport
import Testing

@testable import GStreamerKit

@Suite(.hangGuard) struct RegistryTests {
    @Test func anInstalledElementIsFound() throws {
        let factory = try #require(try ElementFactory.find("videotestsrc"))
        #expect(factory.name == "videotestsrc")
        #expect(factory.longName == "Video test source")
        #expect(factory.klass == "Source/Video")
        try ElementFactory.require("videotestsrc")
    }

    @Test(arguments: ["nosuch", "", " ", "video/x-raw", "videotestsrc "])
    func anUnknownElementIsNotFound(name: String) throws {
        #expect(try ElementFactory.find(name) == nil)
        let error = #expect(throws: PipelineError.self) { try ElementFactory.require(name) }
        #expect(error?.code == .missingElement)
    }

    @Test(
        arguments: [
            ("x264enc", "gstreamer1.0-plugins-ugly"), ("edgedetect", "gstreamer1.0-opencv"),
            ("videotestsrc", "gstreamer1.0-plugins-base"), ("v4l2src", "gstreamer1.0-plugins-good"),
            ("avenc_aac", "gstreamer1.0-libav"), ("avdec_anything", "gstreamer1.0-libav"),
            ("nosuch", nil), ("", nil), ("avenc", nil),
        ] as [(String, String?)])
    func packageOfAnElementIsFound(element: String, package: String?) {
        #expect(DebianPackage.providing(element: element) == package)
    }

    @Test func packagesOfDecodersEncodersAndSchemesAreFound() {
        func package(_ kind: MissingPlugin.Kind, _ name: String) -> String? {
            DebianPackage.providing(MissingPlugin(kind: kind, name: name))
        }
        #expect(package(.decoder, "video/x-h264") != nil)
        #expect(package(.decoder, "video/x-nobody-knows") == nil)
        #expect(package(.encoder, "video/x-h264") != nil)
        #expect(package(.uriSource, "rtsp") == "gstreamer1.0-plugins-good")
        #expect(package(.uriSource, "nobody") == nil)
    }

    @Test func sharedClockNeverGoesBackwards() {
        let before = SharedClock.now
        let after = SharedClock.now
        #expect(before <= after)
        #expect(before.nanoseconds > 0)
    }

    @Test func devicesAreListed() async throws {
        // Any device will do; a machine without devices has an empty list.
        let all = try await onAThreadOfItsOwn { Result { try Device.list() } }.get()
        #expect(all.allSatisfy { !$0.klass.isEmpty })
        let cameras = try await onAThreadOfItsOwn {
            Result { try Device.list(klass: "Video/Source") }
        }.get()
        #expect(cameras.allSatisfy { $0.klass.contains("Video/Source") })
        let none = try await onAThreadOfItsOwn {
            Result { try Device.list(klass: "No/Such/Class") }
        }.get()
        #expect(none.isEmpty)
    }

    @Test func versionNamesGStreamer() { #expect(GStreamer.version.hasPrefix("GStreamer 1.")) }
}
