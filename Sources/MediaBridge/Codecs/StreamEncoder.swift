/// The elements that encode live streams, by factory name; the preferred one of a codec first.
// swift-format-ignore: AlwaysUseLowerCamelCase
enum StreamEncoder: String, CaseIterable {
    case x264enc, openh264enc, vp8enc

    var codec: VideoCodec {
        switch self {
        case .x264enc, .openh264enc: .h264
        case .vp8enc: .vp8
        }
    }

    /// The codecs for which an element is installed.
    static var installedCodecs: [VideoCodec] {
        var codecs: [VideoCodec] = []
        for encoder in allCases where !codecs.contains(encoder.codec) {
            if (try? ElementFactory.find(encoder.rawValue)) ?? nil != nil {
                codecs.append(encoder.codec)
            }
        }
        return codecs
    }

    /// Returns the installed element of a codec.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` or, for a codec without an
    ///   element, ``PipelineError/Code/badValue``.
    static func find(for codec: VideoCodec) throws(PipelineError) -> StreamEncoder {
        let all = allCases.filter { $0.codec == codec }
        for encoder in all where try ElementFactory.find(encoder.rawValue) != nil { return encoder }
        guard let preferred = all.first else {
            throw PipelineError(
                .badValue, message: "no encoder is known for live streams in \(codec)",
                advice: "h264 or vp8")
        }
        try ElementFactory.require(preferred.rawValue)
        return preferred
    }

    /// The names of the appsrc and of the encoder in the pipeline.
    static let (sourceName, encoderName) = ("frames", "encoder")

    /// Returns a capture string that begins with an appsrc for frames.
    func text(_ settings: VideoEncoderSettings) -> String {
        "appsrc name=\(Self.sourceName) format=time ! videoconvert ! "
            // Streams in I420 are decoded everywhere; it needs an even width and height.
            + "video/x-raw,format=I420 ! \(rate(settings)) ! \(element(settings)) ! \(form) "
            + "! appsink name=\(BridgedText.defaultBranch)"
    }

    /// Without a frame rate x264 holds each picture back until the next one comes.
    private func rate(_ settings: VideoEncoderSettings) -> String {
        let thousandths = Int((min(max(settings.frameRate, 1), 1000) * 1000).rounded())
        return #"capssetter caps="video/x-raw,framerate=(fraction)\#(thousandths)/1000""#
    }

    private func element(_ settings: VideoEncoderSettings) -> String {
        let (property, value) = bitRate(settings.bitRate)
        // Key frames are asked for by time; this limit is for an encoder that ignores it.
        let interval = settings.keyFrameInterval / .seconds(1)
        let frames = Int(min(max(1, 2 * interval * settings.frameRate), 1e6))
        let rate = "name=\(Self.encoderName) \(property)=\(value)"
        switch self {
        case .x264enc:
            // A buffer of half a second keeps a key frame from taking a second to be sent. Pictures of
            // screens hardly change: more analysis costs little there, and keeps edges sharp.
            let preset = settings.contentHint.wantsSharpness ? "veryfast" : "superfast"
            return "x264enc \(rate) tune=zerolatency speed-preset=\(preset) pass=cbr "
                + "vbv-buf-capacity=500 option-string=scenecut=0 key-int-max=\(frames)"
        case .openh264enc:
            let usage = settings.contentHint.wantsSharpness ? "screen" : "camera"
            return "openh264enc \(rate) gop-size=\(frames) rate-control=bitrate usage-type=\(usage)"
        case .vp8enc:
            // libvpx's threads wait for each other in busy loops.
            let screen =
                settings.contentHint.wantsSharpness ? "sharpness=2 static-threshold=100" : ""
            return
                "vp8enc \(rate) timebase=1/90000 deadline=1 cpu-used=8 threads=1 lag-in-frames=0 "
                + "end-usage=cbr buffer-size=1000 buffer-initial-size=500 buffer-optimal-size=600 "
                + "error-resilient=default keyframe-max-dist=\(frames) \(screen)"
        }
    }

    /// Returns the property with the bit rate, and its value.
    ///
    /// - Parameter bitRate: In bits per second.
    func bitRate(_ bitRate: Int) -> (property: String, value: Int) {
        switch self {
        case .x264enc: ("bitrate", max(1, bitRate / 1000))
        case .openh264enc: ("bitrate", max(1000, bitRate))
        case .vp8enc: ("target-bitrate", max(1000, bitRate))
        }
    }

    private var form: String {
        switch self {
        // The profile that every receiver of WebRTC decodes.
        case .x264enc, .openh264enc:
            "video/x-h264,profile=constrained-baseline ! h264parse config-interval=-1 ! "
                + "video/x-h264,stream-format=byte-stream,alignment=au"
        case .vp8enc: "video/x-vp8"
        }
    }
}

extension VideoContentHint {
    /// Whether sharp pictures matter more than many.
    fileprivate var wantsSharpness: Bool { self == .details || self == .text }
}
