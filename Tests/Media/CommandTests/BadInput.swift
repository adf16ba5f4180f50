import Testing

/// Invalid input and the expected error message.
struct BadInput: CustomTestStringConvertible, Sendable {
    let arguments: [String]
    /// Words that the error message must contain.
    let words: [String]
    var status: Int32 = 1

    var testDescription: String { arguments.joined(separator: " ") }

    static func capture(_ text: String, _ words: String...) -> BadInput {
        BadInput(
            arguments: ["run", "--capture", text, "--output", "fakesink", "--report", "none"],
            words: words)
    }

    static func output(_ text: String, _ words: String...) -> BadInput {
        BadInput(
            arguments: [
                "run", "--capture", "videotestsrc num-buffers=30", "--output", text, "--report",
                "none",
            ],
            words: words)
    }

    /// A recording that fails, and leaves no file.
    static func record(_ capture: String, _ words: String..., codec: String = "auto") -> BadInput {
        BadInput(
            arguments: [
                "record", "--capture", capture, "/tmp/none.mkv", "--video", codec, "--report",
                "none",
            ], words: words)
    }

    static func usage(_ arguments: [String], _ words: String...) -> BadInput {
        BadInput(arguments: arguments, words: words, status: 64)
    }

    static let strings = [
        capture("nosuchelement ! identity", "nosuchelement", "spelling"),
        capture("videotestsrc foo=1", "foo", "videotestsrc"),
        capture("videotestsrc pattern=nonesuch", "pattern", "nonesuch", "videotestsrc"),
        capture("videotestsrc ! audioconvert ! identity", "videotestsrc0", "audioconvert0", "link"),
        capture("videotestsrc ! \"video/x-raw", "syntax"),
        capture("videotestsrc ! \"identity", "syntax"),
        capture("", "empty"),
        capture("  \n\t ", "empty"),
        capture("a. ! b.", "a. ! b."),
        capture("videotestsrc ! \"video/x-raw\" fakesnk t. ! m.", "fakesnk"),
        capture("!", "syntax"),
        capture("videotestsrc ! ! identity", "at \"! ! identity", "remove one !"),
        capture("fakesrc.( x )", "fakesrc"),
        capture("videotestsrc name=a ! identity name=a", "two elements", "\"a\""),
        capture("videotestsrc ! fakesink", "fakesink", "--output \"fakesink\""),
        capture(
            "videotestsrc ! videoconvert ! ximagesink sync=false",
            "remove ximagesink, and make it an output: --output \"ximagesink sync=false\""),
        capture(
            "videotestsrc ! video/x-raw,format=I42O", "Try: format=I420; there is no format I42O"),
        capture(
            "audiotestsrc ! audio/x-raw,format=S16", "Try: format=S16LE; there is no format S16"),
        capture(
            "filesrc location=my film.mp4 ! decodebin", "Try: location=\"my film.mp4\", in quotes"),
        capture(
            "rtspsrc location=rtsp://127.0.0.1:1/camera ! rtph264depay ! h264parse",
            "rtsp://127.0.0.1:1/camera", "check the address"),
        output("filesink location=my film.mkv", "Try: location=\"my film.mkv\", in quotes"),
        BadInput(
            arguments: ["run", "videotestsrc ! autovideosink"],
            words: ["a string, not a pipeline file", "--capture"]),
        BadInput(
            arguments: [
                "record", "--capture",
                "videotestsrc ! appsink name=v audiotestsrc ! appsink name=a", "/tmp/none.mkv",
            ],
            words: ["the captures have a, v", "appsink name=video, appsink name=audio"]),
        BadInput(
            arguments: ["token", "standup", "--secret-file", "/no/secret"],
            words: ["cannot read /no/secret: No such file or directory"]),
        capture("videotestsrc ! appsink videotestsrc ! appsink", "2 elements", "appsink name="),
        capture(
            "videotestsrc ! appsink name=a videotestsrc ! appsink name=a", "two elements", "\"a\""),
        capture("videotestsrc num-buffers=0", "without a single frame", "videotestsrc"),
        capture("videotestsrc num-buffers=5 ! identity eos-after=1", "without a single frame"),
        capture("videotestsrc num-buffers=30 ! identity error-after=5", "identity0"),
        capture(
            "fakesrc num-buffers=9 sizetype=fixed sizemax=4 ! video/x-raw,format=GRAY8,"
                + "width=4,height=1,framerate=30/1", "no timestamps", "do-timestamp"),
        capture("v4l2src device=/dev/video99", "/dev/video99"),
        output("nosuchelement", "nosuchelement", "spelling"),
        output("fakesink foo=1", "foo", "fakesink"),
        output("fakesink state-error=nonesuch", "state-error", "nonesuch"),
        output("", "empty"),
        output("a. ! b.", "a. ! b."),
        output("videotestsrc ! fakesink", "videotestsrc", "free sink pad"),
        output("appsrc ! fakesink appsrc ! fakesink", "2 elements", "appsrc name="),
        output("appsrc name=nosuchstream ! fakesink", "nosuchstream", "video"),
        output("mp4mux ! fakesink", "video/x-raw", "x264enc ! h264parse ! mp4mux"),
        output("webmmux ! fakesink", "video/x-raw", "vp8enc ! webmmux"),
        output("audioconvert ! fakesink", "video/x-raw", "audioconvert"),
        output("filesink", "No file name", "filesink location="),
        output(
            "filesink location=/no/such/directory/x", "/no/such/directory/x", "directory exists"),
        capture("pulsesrc server=/no/such/socket", "pulsesrc0", "gst-device-monitor-1.0"),
        capture("ximagesrc", "ximagesrc0", "xvfb-run"),
        capture("tcpclientsrc port=1", "Connection refused", "check the address"),
        capture("/etc/passwd", "filesrc location=/etc/passwd ! decodebin"),
        BadInput(
            arguments: ["run", "/bin/sh"],
            words: ["it is not UTF-8 text", "--capture \"filesrc location=/bin/sh ! decodebin\""]),
        record("audiotestsrc num-buffers=3 ! appsink name=video", "audio/x-raw", "name=audio"),
        record("videotestsrc num-buffers=3 ! appsink name=audio", "video/x-raw", "name=video"),
        record(
            "fakesrc is-live=true num-buffers=3 do-timestamp=true format=time sizetype=fixed sizemax=4 "
                + "! text/x-raw,format=utf8 ! appsink name=video",
            "text/x-raw", "use a capture with video"),
        record(
            "videotestsrc num-buffers=3 ! x264enc ! appsink name=video", "video/x-h264",
            "decode it in the capture", codec: "h264"),
    ]

    static let usages = [
        usage(["run"], "--capture"),
        usage(["run", "--capture", "videotestsrc", "--frames", "0"], "--frames"),
        usage(["run", "--capture", "videotestsrc", "--frames", "-3"], "--frames"),
        usage(["run", "--capture", "videotestsrc", "--frames", "many"], "--frames", "many"),
        usage(["run", "--capture", "videotestsrc", "--duration", "soon"], "--duration", "soon"),
        usage(["run", "--capture", "videotestsrc", "--duration", "-1s"], "--duration"),
        usage(["run", "--capture", "videotestsrc", "--duration", "0"], "--duration"),
        usage(["run", "--capture", "videotestsrc", "--filter", "sepia"], "sepia", "grayscale"),
        usage(["run", "--capture", "videotestsrc", "--filter", "rotate=45"], "rotate=45"),
        usage(["run", "--capture", "videotestsrc", "--report", "xml"], "xml", "json"),
        usage(["run", "--capture", "videotestsrc", "--set", "a=b"], "--set"),
        usage(["run", "a.yaml", "--set", "novalue"], "NAME=VALUE", "novalue"),
        usage(["run", "--capture", "videotestsrc", "--nosuchoption"], "--nosuchoption"),
        usage(["run", "--capture"], "--capture"),
        usage(
            ["record", "--capture", "videotestsrc", "one.mkv", "two.mkv"], "not one.mkv and two.mkv"
        ),
        usage(
            ["record", "--capture", "videotestsrc", "--overwrite", "--segment", "1s", "one.mkv"],
            "--overwrite cannot be combined with --segment, --segment-size or --replay"),
        usage(["snapshot"], "picture"),
        usage(["nosuchcommand"], "nosuchcommand"),
    ]
}
