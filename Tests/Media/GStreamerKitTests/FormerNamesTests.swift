import TestSupport
import Testing

@testable import GStreamerKit

/// Errors about names from GStreamer 0.10 suggest today's names.
@Suite(.hangGuard) struct FormerNamesTests {
    @Test(arguments: [
        ("video/x-raw-yuv", "video/x-raw"),
        ("video/x-raw-yuv,format=(fourcc)I420,width=64", "video/x-raw,format=I420,width=64"),
        (
            "video/x-raw-yuv, format=(fourcc)YUY2, framerate=(fraction)10/1",
            "video/x-raw,format=YUY2,framerate=(fraction)10/1"
        ),
        ("video/x-raw,format=(fourcc)Y800", "video/x-raw,format=GRAY8"),
        ("video/x-raw-gray,bpp=8", "video/x-raw,format=GRAY8"),
        ("video/x-raw-rgb,width=64,height=48", "video/x-raw,width=64,height=48"),
        (
            "video/x-raw-rgb,bpp=24,depth=24,endianness=4321,red_mask=16711680",
            "video/x-raw,format=RGB"
        ),
        ("video/x-raw-rgb,bpp=24,red_mask=255", "video/x-raw,format=BGR"),
        ("video/x-raw-rgb,bpp=32,depth=24,red_mask=65280", "video/x-raw,format=BGRx"),
        ("video/x-raw-rgb,bpp=32,depth=32,red_mask=-16777216", "video/x-raw,format=RGBA"),
        ("video/x-raw-yuv,interlaced=true", "video/x-raw,interlace-mode=interleaved"),
        (
            "audio/x-raw-int,rate=44100,width=16,depth=16,signed=true,endianness=1234",
            "audio/x-raw,format=S16LE,rate=44100"
        ),
        (
            "audio/x-raw-int,width=32,depth=24,endianness=4321,channels=2",
            "audio/x-raw,format=S24_32BE,channels=2"
        ),
        ("audio/x-raw-int,width=8,signed=false", "audio/x-raw,format=U8"),
        ("audio/x-raw-float,width=32", "audio/x-raw,format=F32LE"),
        ("audio/x-raw-int", "audio/x-raw"),
        ("video/x-raw-yuv;image/jpeg", "video/x-raw;image/jpeg"),
    ])
    func oldCapsAreWrittenAsTodays(former: String, today: String) throws {
        #expect(FormerCaps.today(former) == today)
        #expect(FormerCaps.today(today) == nil)
        // GStreamer, which rejects unknown formats, accepts these caps.
        let source = today.hasPrefix("audio") ? "audiotestsrc" : "videotestsrc"
        _ = try Pipeline(parsing: "\(source) ! \(today) ! fakesink")
    }

    @Test(arguments: [
        "video/x-raw", "video/x-raw,format=I420", "video/x-raw(memory:GLMemory),width=3",
        "audio/x-raw,format=S16LE", "image/jpeg", "", "video/x-h264,stream-format=byte-stream",
        "application/x-rtp,media=video",
    ])
    func todaysCapsStayAsTheyAre(caps: String) { #expect(FormerCaps.today(caps) == nil) }

    @Test(arguments: [
        ("ffmpegcolorspace", "videoconvert"), ("decodebin2", "decodebin"), ("playbin2", "playbin"),
        ("ffdec_h264", "avdec_h264"), ("ffenc_mpeg4", "avenc_mpeg4"), ("ffmux_mov", "avmux_mov"),
        ("gconfaudiosink", "autoaudiosink"), ("gconfvideosink", "autovideosink"),
        ("gstrtpbin", "rtpbin"), ("gstrtpjitterbuffer", "rtpjitterbuffer"), ("lame", "lamemp3enc"),
        ("v4lsrc", "v4l2src"), ("mp3parse", "mpegaudioparse"), ("freeze", "imagefreeze"),
    ])
    func oldElementNameGetsTheCurrentName(former: String, today: String) {
        let error = #expect(throws: PipelineError.self) {
            try Pipeline(parsing: "fakesrc ! \(former) ! fakesink")
        }
        #expect(error?.code == .missingElement)
        #expect(error?.message.contains(former) == true)
        #expect(error?.advice?.contains("\(today) ") == true, "\(error?.advice ?? "")")
        #expect(error?.advice?.contains(" instead of \(former)") == true, "\(error?.advice ?? "")")
    }

    @Test func suggestedElementsExist() {
        #expect(!FormerNames.answers.isEmpty)
        // Each suggested element is installed, in a package, or in an unlisted plug-in family.
        for name in FormerNames.answers {
            #expect(
                ElementFactory.names.contains(name)
                    || DebianPackage.providing(element: name) != nil, "\(name)")
        }
    }

    @Test(arguments: [
        ("timeoverlay halign=right", "halignment=…"), ("clockoverlay valign=top", "valignment=…"),
        ("textoverlay halign=left", "halignment=…"),
        ("multifilesink filename=a%d", "location=…"), ("filesink filename=a", "location=…"),
        ("vp8enc speed=2", "cpu-used=…"), ("vp8enc bitrate=3", "target-bitrate=…"),
        ("udpsink sockfd=3", "socket=…"), ("v4l2src always-copy=true", "io-mode=…"),
    ])
    func oldPropertyNameGetsTheCurrentName(text: String, today: String) {
        let error = #expect(throws: PipelineError.self) { try Pipeline(parsing: text) }
        #expect(error?.code == .noSuchProperty)
        #expect(error?.advice?.hasPrefix(today) == true, "\(error?.advice ?? "")")
    }

    @Test func errorNamesEveryOldNameOfAString() {
        let error = #expect(throws: PipelineError.self) {
            try Pipeline(
                parsing: "filesrc location=a ! decodebin2 ! ffmpegcolorspace ! "
                    + "video/x-raw-yuv,format=(fourcc)I420 ! ffmpegcolorspace ! fakesink")
        }
        let advice = error?.advice ?? ""
        for words in [
            "decodebin instead of decodebin2", "videoconvert instead of ffmpegcolorspace",
            "video/x-raw,format=I420 instead of video/x-raw-yuv,format=(fourcc)I420",
        ] {
            #expect(advice.split(separator: words, omittingEmptySubsequences: false).count == 2)
        }
    }

    @Test func oldCapsThatNothingRefusesAtOnceAreNamedWhenTheStreamFails() async throws {
        // The caps that a queue accepts depend on its neighbours, and the caps of a pad that does
        // not exist yet are unknown.
        let pipeline = try Pipeline(
            parsing: "videotestsrc num-buffers=3 ! jpegenc ! decodebin ! queue ! "
                + "video/x-raw-yuv ! fakesink")
        let error = await #expect(throws: PipelineError.self) { try await pipeline.playToTheEnd() }
        #expect(
            error?.advice?.contains("video/x-raw instead of video/x-raw-yuv") == true, "\(error!)")
    }
}
