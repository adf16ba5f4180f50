import TestSupport

/// A process that sends live media over the loopback network, as the source of a recording's audio
/// or video. It can be killed like a real sender.
enum Sender: Sendable {
    /// Raw audio, for any encoder.
    case sound
    /// H.264 with a keyframe every second.
    case pictures

    func start(at port: Int) throws -> ChildProcess {
        try ChildProcess(
            "gst-launch-1.0",
            "-q \(source) pt=96 ! udpsink host=127.0.0.1 port=\(port) sync=false"
                .split(separator: " ").map(String.init))
    }

    /// The beginning of a capture string for this sender.
    func capture(at port: Int) -> String {
        let (form, depayloader) =
            switch self {
            case .sound:
                (
                    "media=audio,clock-rate=48000,encoding-name=L16,channels=2",
                    "rtpL16depay ! audioconvert"
                )
            case .pictures:
                ("media=video,clock-rate=90000,encoding-name=H264", "rtph264depay ! h264parse")
            }
        return "udpsrc address=127.0.0.1 port=\(port) caps=application/x-rtp,\(form),payload=96 "
            + "! \(depayloader)"
    }

    private var source: String {
        switch self {
        case .sound:
            "audiotestsrc is-live=true samplesperbuffer=960 "
                + "! audio/x-raw,format=S16BE,rate=48000,channels=2 ! rtpL16pay"
        case .pictures:
            "videotestsrc is-live=true pattern=ball "
                + "! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
                + "! x264enc tune=zerolatency speed-preset=superfast key-int-max=30 "
                + "option-string=scenecut=0 "
                + "! rtph264pay config-interval=-1 aggregate-mode=zero-latency"
        }
    }
}
