import GStreamerKit
import TestSupport
import Testing

@Suite(.hangGuard) struct OpenEndsTests {
    @Test(arguments: [
        ("videotestsrc", "videotestsrc #"),
        ("videotestsrc pattern=ball ! videoconvert", "videotestsrc pattern=ball ! videoconvert #"),
        ("compositor name=c videotestsrc ! c.", "compositor name=c # videotestsrc ! c."),
        (
            "videotestsrc ! smpte name=s videotestsrc pattern=1 ! s.",
            "videotestsrc ! smpte name=s # videotestsrc pattern=1 ! s."
        ),
        (
            "videotestsrc ! tee name=t t. ! queue ! filesink location=a t. ! queue ! videoscale",
            "videotestsrc ! tee name=t t. ! queue ! filesink location=a t. ! queue ! videoscale #"
        ),
        (
            "uridecodebin uri=file:///a.mp4 name=d d. ! queue ! audioconvert ! autoaudiosink d.",
            "uridecodebin uri=file:///a.mp4 name=d d. ! queue ! audioconvert ! autoaudiosink d. #"
        ),
        (
            "videotestsrc ! video/x-raw,width=320 , height=240",
            "videotestsrc ! video/x-raw,width=320 , height=240 #"
        ),
        (
            "videotestsrc ! \"video/x-raw, width=320\"",
            "videotestsrc ! \"video/x-raw, width=320\" #"
        ),
        (
            "interleave name=i audiotestsrc ! i. audiotestsrc freq=100 ! i.",
            "interleave name=i # audiotestsrc ! i. audiotestsrc freq=100 ! i."
        ),
    ]) func captureIsOpenAfterItsUnlinkedElement(text: String, marked: String) {
        let open = OpenEnds.ofCapture(PipelineText(text))
        #expect(open.ends.count == 1)
        #expect(open.completed(by: [" #"]) == marked)
    }

    @Test(arguments: [
        ("fakesink", "# fakesink"),
        ("x264enc ! mp4mux ! filesink location=a", "# x264enc ! mp4mux ! filesink location=a"),
        ("mp4mux ! filesink location=a", "# mp4mux ! filesink location=a"),
        (
            "mp4mux name=m ! filesink location=a audiotestsrc ! avenc_aac ! m.",
            "# mp4mux name=m ! filesink location=a audiotestsrc ! avenc_aac ! m."
        ),
        (
            "videomixer name=m ! ximagesink tee name=t ! queue ! m. t. ! queue ! videoflip ! m.",
            "videomixer name=m ! ximagesink # tee name=t ! queue ! m. t. ! queue ! videoflip ! m."
        ),
        (
            "filesrc location=a.srt ! subparse ! txt. textoverlay name=txt ! ximagesink",
            "filesrc location=a.srt ! subparse ! txt. # textoverlay name=txt ! ximagesink"
        ),
        (
            "video/x-raw,format=I420 ! x264enc ! fakesink",
            "# video/x-raw,format=I420 ! x264enc ! fakesink"
        ),
        ("m. mp4mux name=m ! filesink location=a", "# m. mp4mux name=m ! filesink location=a"),
    ]) func outputIsOpenBeforeItsUnlinkedElement(text: String, marked: String) {
        let open = OpenEnds.ofOutput(PipelineText(text))
        #expect(open.ends.count == 1)
        #expect(open.completed(by: ["# "]) == marked)
    }

    @Test func openEndsAreDistinguishedByMediaType() {
        let capture = OpenEnds.ofCapture(
            PipelineText(
                "uridecodebin uri=a name=d d. ! queue ! videoconvert d. ! audioconvert ! queue"))
        #expect(capture.ends.map(\.kind) == [.video, .audio])
        let output = OpenEnds.ofOutput(
            PipelineText("opusenc ! m. vp8enc ! webmmux name=m ! filesink location=a"))
        #expect(output.ends.map(\.kind) == [.audio, .video])
        let caps = OpenEnds.ofCapture(PipelineText("decodebin name=d d. ! audio/x-raw ! queue d."))
        #expect(caps.ends.map(\.kind) == [.audio, nil])
    }

    @Test(arguments: [
        "", "!", "videotestsrc !", "( videotestsrc )", "bin.( videotestsrc )", "fakesink",
        "a. ! b.",
        "no-such-element", "videotestsrc ! fakesink", "videotestsrc .src ! queue",
    ]) func stringWithoutAnOpenEndHasNone(text: String) {
        #expect(OpenEnds.ofCapture(PipelineText(text)).ends.isEmpty)
    }

    @Test func muxerPadIsChosenByStreamType() throws {
        let text = "appsrc name=video ! avimux ! fakesink"
        let raw = try Caps("video/x-raw(ANY)")
        #expect(
            OpenEnds.typed(text, ["video": raw])
                == "appsrc name=video ! video/x-raw(ANY) ! avimux ! fakesink")
        #expect(
            OpenEnds.typed(text, ["video": try Caps("image/jpeg(ANY); image/png(ANY)")])
                == "appsrc name=video ! image/jpeg(ANY); image/png(ANY) ! avimux ! fakesink")
        // Raw video may still be converted to what a single pad accepts.
        let one = "appsrc name=video ! x264enc ! fakesink"
        #expect(OpenEnds.typed(one, ["video": raw]) == one)
    }
}
