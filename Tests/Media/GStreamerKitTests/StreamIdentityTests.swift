import GStreamerKit
import Testing

/// Which changes keep a stream the same, and which make it a different one.
@Suite struct StreamIdentityTests {
    private static let raw =
        "video/x-raw, format=I420, width=320, height=240, pixel-aspect-ratio=1/1, "
        + "interlace-mode=progressive, colorimetry=bt601, chroma-site=mpeg2, framerate="

    @Test func frameRateIsNotPartOfTheStreamIdentity() throws {
        try GStreamer.initialize()
        let one = try #require(VideoInfo(Caps(Self.raw + "30/1")))
        for rate in ["25/1", "0/1", "30000/1001"] {
            #expect(one.hasSamePictures(as: try #require(VideoInfo(Caps(Self.raw + rate)))))
        }
    }

    @Test(arguments: [
        ("bt601", "bt709"), ("mpeg2", "jpeg"), ("progressive", "interleaved"), ("=1/1", "=4/3"),
        ("I420", "NV12"), ("320", "322"),
    ])
    func allOtherCapsFieldsArePartOfTheStreamIdentity(old: String, new: String) throws {
        try GStreamer.initialize()
        let one = try #require(VideoInfo(Caps(Self.raw + "30/1")))
        let text = Self.raw.replacing(old, with: new)
        let two = try #require(VideoInfo(Caps(text + "30/1")))
        #expect(!one.hasSamePictures(as: two))
    }

    @Test(arguments: [
        (
            "video/x-h264, codec_data=(buffer)01, width=320, framerate=30/1",
            "video/x-h264, codec_data=(buffer)01, width=320, framerate=25/1", true
        ),
        ("video/x-h264, codec_data=(buffer)01", "video/x-h264, codec_data=(buffer)02", false),
        ("video/x-h264, codec_data=(buffer)01", "video/x-h264", false),
        ("video/x-vp8, width=320", "video/x-vp8, width=640", false),
        ("video/x-vp8, width=320", "video/x-vp8, width=320, colorimetry=bt709", true),
        ("video/x-vp8, colorimetry=bt601", "video/x-vp8, colorimetry=bt709", false),
        ("video/x-vp8", "video/x-vp9", false),
        (
            "audio/x-flac, streamheader=(buffer)<01,02>, rate=48000",
            "audio/x-flac, streamheader=(buffer)<01,03>, rate=48000", false
        ),
        (
            "audio/mpeg, rate=48000, codec_data=(buffer)01",
            "audio/mpeg, rate=44100, codec_data=(buffer)01", false
        ),
    ])
    func headerIsReusedOnlyForStreamsItDescribes(old: String, new: String, isSame: Bool) throws {
        #expect(try Caps(old).isSameStream(as: Caps(new)) == isSame)
        #expect(try Caps(new).isSameStream(as: Caps(old)) == isSame)
    }

    @Test func frameCountingEncoderIsFoundUnlessTheRateIsFixed() throws {
        try GStreamer.initialize()
        func counter(_ text: String) throws -> String? {
            let pipeline = try Pipeline(parsing: "appsrc name=in ! \(text) ! fakesink")
            return pipeline.appSources["in"]?.pictureCounter?.factoryName
        }
        #expect(try counter("theoraenc") == "theoraenc")
        #expect(try counter("jpegenc ! avimux") == "avimux")
        #expect(try counter("jpegenc ! matroskamux") == nil)
        #expect(try counter("videorate ! theoraenc") == nil)
    }
}
