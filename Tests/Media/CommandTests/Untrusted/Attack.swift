import Testing

/// Pipeline strings that an attacker might send. `OUT` stands for a directory outside the permitted
/// one, `BOX` for the permitted directory, and `PORT` for a local port with a listener.
struct Attack: Sendable, CustomTestStringConvertible {
    var capture = Self.picture
    var output = "fakesink"
    /// The text of the refusal.
    var reason: Reason

    enum Reason: String, Sendable {
        case element = "is not among the elements"
        case path = "the only directory for files"
        case property = "is not allowed in an untrusted pipeline"
        case uri = "a URI creates elements"
        case pattern = "is not the name of numbered files"
        /// Refused at run time: autoplugging skips elements that the list does not allow.
        case leftOut = "is missing a plug-in"
    }

    var testDescription: String { "\(capture) → \(output)" }

    static let picture = "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48"

    private static func outputs(_ reason: Reason, _ texts: [String]) -> [Attack] {
        texts.map { Attack(output: $0, reason: reason) }
    }
    private static func captures(_ reason: Reason, _ texts: [String]) -> [Attack] {
        texts.map { Attack(capture: $0, reason: reason) }
    }

    static let all: [Attack] =
        outputs(
            .path,
            [
                // Directly, by detours, and through a link.
                "filesink location=OUT/a", "filesink location=BOX/../out/a",
                "filesink location=../out/a", "filesink location=\"OUT/a b\"",
                "filesink location=BOX/\\../out/a", "filesink location=BOX/link/a",
                "filesink location=BOX/linked-file", "filesink location=BOX/dangling",
                "filesink append=true location=OUT/secret", "filesink location=/dev/stderr",
                "filesink location=/proc/self/mem", "filesink location=BOX",
                // In a bin, in nested bins, and behind a tee.
                "( filesink location=OUT/a )", "( queue ! ( identity ! filesink location=OUT/a ) )",
                "bin.( queue ! bin.( filesink location=OUT/a ) )",
                "tee name=t ! queue ! fakesink t. ! queue ! filesink location=OUT/a",
                // Numbered files.
                "multifilesink location=OUT/%05d.raw",
                // Files that encoders and muxers write themselves.
                "x264enc pass=pass1 multipass-cache-file=OUT/a ! fakesink",
                "vp8enc multipass-mode=first-pass multipass-cache-file=OUT/a ! fakesink",
                "vp9enc multipass-mode=1 multipass-cache-file=../out/a ! fakesink",
                "theoraenc multipass-mode=first-pass multipass-cache-file=OUT/a ! fakesink",
                "avenc_mpeg4 multipass-cache-file=OUT/a ! fakesink",
                "x264enc ! mp4mux moov-recovery-file=OUT/a ! fakesink",
                "x264enc ! mp4mux faststart=true faststart-file=OUT/a ! fakesink",
                "x264enc ! qtmux faststart=true faststart-file=BOX/link/a ! fakesink",
                "queue2 temp-template=OUT/aXXXXXX ! fakesink",
            ])
        + outputs(
            .property,
            [
                "x264enc option-string=\"pass=1:stats=OUT/a\" ! fakesink",
                "x264enc option-string=dump-yuv=OUT/a ! fakesink",
                "x265enc option-string=csv=OUT/a:csv-log-level=2 ! fakesink",
            ])
        + outputs(
            .element,
            [
                "tcpclientsink host=127.0.0.1 port=PORT", "udpsink host=127.0.0.1 port=PORT",
                "tcpserversink port=0", "fdsink fd=2", "giosink location=file://OUT/a",
                "curlhttpsink location=http://127.0.0.1:PORT/",
                "rtmpsink location=rtmp://127.0.0.1",
                "splitmuxsink location=OUT/a%d.mp4",
                "jpegenc ! souphttpclientsink location=x",
                "shmsink socket-path=BOX/socket", "autovideosink", "ximagesink display=:0",
                "x264enc ! hlssink location=OUT/a%d.ts playlist-location=OUT/a.m3u8",
                "videocodectestsink location=OUT/a",
                "( ( rtspsrc location=rtsp://127.0.0.1:PORT/ ) )",
                "avmux_mpeg ! fakesink", "tee name=t ! fakesink t. ! udpsink port=PORT",
                "rfbsrc host=127.0.0.1 port=PORT ! fakesink",
            ])
        + captures(
            .path,
            [
                "filesrc location=OUT/secret ! decodebin ! videoconvert",
                "filesrc location=/etc/passwd ! rawvideoparse width=8 height=8",
                "filesrc location=BOX/link/secret ! rawvideoparse width=8 height=8",
                "filesrc location=BOX/linked-file ! rawvideoparse width=8 height=8",
                "multifilesrc location=OUT/%05d ! pngdec",
            ])
        + outputs(.pattern, ["multifilesink location=BOX/%s/../../out/a"])
        + captures(.pattern, ["multifilesrc location=/etc/pass%s"])
        + captures(
            .element,
            [
                "uridecodebin uri=http://127.0.0.1:PORT/a ! videoconvert",
                "playbin uri=file://OUT/secret", "souphttpsrc location=http://127.0.0.1:PORT/",
                "rtspsrc location=rtsp://127.0.0.1:PORT/ ! decodebin", "v4l2src", "fdsrc fd=0",
                "tcpclientsrc host=127.0.0.1 port=PORT ! rawvideoparse width=8 height=8",
                "udpsrc port=0 ! rawvideoparse", "ximagesrc display-name=:0",
                "videotestsrc ! a. udpsink",
                "filesrc location=BOX/list.m3u8 ! hlsdemux ! decodebin",
                "( urisourcebin uri=http://127.0.0.1:PORT/ ) ! parsebin",
            ])
        + captures(
            .uri, ["http://127.0.0.1:PORT/a ! decodebin", "file://OUT/secret ! decodebin"])
        + captures(
            .leftOut,
            [
                // A playlist, a session description and a drawing, each of which would fetch the
                // files it names.
                "filesrc location=BOX/list.m3u8 ! decodebin ! videoconvert",
                "filesrc location=BOX/session.sdp ! decodebin ! videoconvert",
                "filesrc location=BOX/drawing.svg ! decodebin ! videoconvert",
            ])
}
