import Testing

/// Pipeline strings that do only what is permitted.
struct HonestString: Sendable, CustomTestStringConvertible {
    var capture = "videotestsrc num-buffers=12 ! video/x-raw,width=64,height=48"
    var output: String
    /// The files that exist afterwards.
    var files: [String] = []

    var testDescription: String { "\(capture) → \(output)" }

    static let all = [
        HonestString(
            output: "x264enc ! h264parse ! mp4mux ! filesink location=a.mp4", files: ["a.mp4"]),
        HonestString(
            output: "x264enc ! mp4mux faststart=true ! filesink location=BOX/a.mp4",
            files: ["a.mp4"]),
        HonestString(
            output: "x264enc pass=pass1 ! fakesink", files: [".x264enc0-multipass-cache-file"]),
        HonestString(
            output: "vp8enc multipass-mode=first-pass multipass-cache-file=BOX/stats ! webmmux ! "
                + "filesink location=./sub/../a.webm", files: ["a.webm", "stats"]),
        HonestString(
            output: "textoverlay text=\"udpsink /etc/passwd http://x\" ! "
                + "( videoconvert ! avenc_ffv1 ) ! matroskamux ! filesink location=sub/a.mkv",
            files: ["sub/a.mkv"]),
        HonestString(
            output: "videoscale ! jpegenc ! multifilesink location=BOX/sub/%03d.jpg",
            files: ["sub/000.jpg", "sub/011.jpg"]),
        HonestString(
            capture: "filesrc location=film.mkv ! decodebin ! videoconvert",
            output: "vp9enc deadline=1 ! webmmux ! filesink location=a.webm", files: ["a.webm"]),
        HonestString(
            capture: "filesrc location=film.mkv ! decodebin name=d d. ! videoconvert ! "
                + "appsink name=video d. ! audioconvert ! appsink name=audio",
            output: "appsrc name=video ! x264enc ! h264parse ! mpegtsmux name=m ! "
                + "filesink location=a.ts appsrc name=audio ! audioconvert ! avenc_aac ! m.",
            files: ["a.ts"]),
        HonestString(
            output: "tee name=t ! queue ! pngenc snapshot=true ! filesink location=a.png "
                + "t. ! queue ! fakesink", files: ["a.png"]),
    ]
}
