// How the elements that encode pictures are set up.

/// What an encoder of pictures is set up for.
struct VideoEncoderSetup {
    /// In bits per second.
    var bitRate: Int
    /// Whether the quality is constant instead, with an encoder that can do that.
    var prefersQuality = false
    /// In frames per second.
    var frameRate: Double
    /// The longest time between two key frames.
    var keyFrameInterval: MediaTime
    /// Whether a network carries the units: it needs a constant bit rate.
    var isForNetwork = false
    /// Whether sharp pictures matter more than many.
    var wantsSharpness = false
    /// The number of the parameter sets of H.264; `nil`: the encoder's default. Only x264enc takes it.
    var parameterSet: Int?

    /// The most frames between two key frames. They are requested by time; this limit is for an encoder that
    /// ignores the requests.
    fileprivate var longestGroup: Int {
        Int(min(max(1, 2 * keyFrameInterval.seconds * frameRate), 1e6).rounded(.up))
    }
}

extension VideoEncoderElement: EncoderElement {
    func bitRate(_ bits: Int) -> (property: String, value: Int)? {
        switch self {
        case .x264enc: ("bitrate", max(1, bits / 1000))
        case .openh264enc: ("bitrate", max(1000, bits))
        case .vp8enc, .vp9enc: ("target-bitrate", max(1000, bits))
        case .av1enc: ("target-bitrate", max(1, bits / 1000))
        case .jpegenc, .avenc_ffv1: nil
        }
    }

    /// Returns the encoder with its properties, as part of a pipeline string.
    ///
    /// - Parameter name: The name of the element; `nil` for none.
    func text(_ setup: VideoEncoderSetup, name: String? = nil) -> String {
        "\(rawValue)\(name.map { " name=\($0)" } ?? "") \(properties(setup))"
    }

    private func properties(_ setup: VideoEncoderSetup) -> String {
        let group = setup.longestGroup
        let rate = bitRate(setup.bitRate).map { "\($0.property)=\($0.value)" } ?? ""
        switch self {
        case .x264enc:
            // Pictures of screens hardly change: more analysis costs little there, and keeps edges sharp.
            let preset = setup.wantsSharpness ? "veryfast" : "superfast"
            // A buffer of half a second keeps a key frame from taking a second to be sent.
            let quality =
                setup.prefersQuality
                ? "pass=qual quantizer=22"
                : "pass=cbr \(rate)" + (setup.isForNetwork ? " vbv-buf-capacity=500" : "")
            // Scene cuts need no key frames. Their key frames would also shift the segment boundaries.
            let set = setup.parameterSet.map { ":sps-id=\($0)" } ?? ""
            return "tune=zerolatency speed-preset=\(preset) option-string=scenecut=0\(set) "
                + "key-int-max=\(group) \(quality)"
        case .openh264enc:
            let usage = setup.wantsSharpness ? "screen" : "camera"
            return "gop-size=\(group) \(rate) rate-control=bitrate usage-type=\(usage)"
        case .vp8enc, .vp9enc:
            // The VP8 threads of libvpx wait for each other in busy loops. Unless each thread has its own core,
            // two threads take many times the CPU time of one, and the encoder falls behind.
            let threads = self == .vp9enc ? "threads=2 row-mt=true" : "threads=1"
            let control =
                setup.isForNetwork
                ? "end-usage=cbr buffer-size=1000 buffer-initial-size=500 buffer-optimal-size=600 "
                    + "error-resilient=default" : "end-usage=vbr"
            let screen = setup.wantsSharpness ? " sharpness=2 static-threshold=100" : ""
            // Timestamps are the frames' own, not computed from the frame rate of the first caps.
            return "timebase=1/90000 deadline=1 cpu-used=8 lag-in-frames=0 auto-alt-ref=false "
                + "keyframe-max-dist=\(group) \(control) \(rate) \(threads)\(screen)"
        case .av1enc:
            return "usage-profile=realtime cpu-used=8 lag-in-frames=0 keyframe-max-dist=\(group) "
                + "end-usage=vbr \(rate) threads=2 row-mt=true"
        case .jpegenc: return "quality=90"
        case .avenc_ffv1: return "gop-size=1"
        }
    }

    // MARK: Pictures in front of the encoder

    /// The pixel formats that an encoder gets. Every player shows 8 bits and 4:2:0, to which cameras and screens
    /// are converted. With x264enc and vp9enc, pictures with more bits keep ten bits and their chroma subsampling.
    private func formats(_ info: VideoInfo) -> [String] {
        switch self {
        case .avenc_ffv1:
            [
                "I420", "Y42B", "Y41B", "YUV9", "Y444", "A420", "BGRx", "BGRA", "GRAY8",
                "GRAY16_LE",
                "I420_10LE", "I422_10LE", "Y444_10LE", "A420_10LE", "A422_10LE", "A444_10LE",
                "I420_12LE", "I422_12LE", "Y444_12LE", "GBR_10LE", "GBRA_10LE", "GBR_12LE",
                "GBRA_12LE",
            ]
        case .jpegenc: ["I420", "Y42B", "Y444", "GRAY8"]
        case .x264enc, .vp9enc:
            info.precision.bits > 8 ? ["I420_10LE", "I422_10LE", "Y444_10LE"] : ["I420"]
        case .openh264enc, .vp8enc, .av1enc: ["I420"]
        }
    }

    /// The pixel format that the encoder gets: the one that loses least, of the formats that each element takes.
    private func format(_ info: VideoInfo, _ rotation: VideoRotation) -> String {
        let elements = [rawValue] + (rotation == .none ? [] : ["videoflip"])
        let factories = elements.compactMap { (try? ElementFactory.find($0)) ?? nil }
        let taken = formats(info).filter { format in
            guard let caps = try? Caps("video/x-raw,format=\(format)") else { return false }
            return factories.allSatisfy { $0.canTake(caps) }
        }
        return info.precision.nearest(among: taken) ?? "I420"
    }

    /// What the conversion for the encoder loses; `nil` if it loses nothing.
    func conversion(of info: VideoInfo?, _ rotation: VideoRotation) -> String? {
        guard let info, case let format = format(info, rotation),
            let stored = try? VideoInfo(format: format, width: 2, height: 2),
            info.precision.exceeds(stored.precision)
        else { return nil }
        return "\(info.format) as \(format)"
    }

    /// Returns the elements that convert pictures for the encoder.
    func picture(_ info: VideoInfo?, _ rotation: VideoRotation) -> String {
        // Dithering changes samples even if they only move to other bits.
        let dither = conversion(of: info, rotation) == nil ? " dither=none" : ""
        let stored = info.map { format($0, rotation) } ?? "I420"
        let convert = "videoconvert\(dither) ! video/x-raw,format=\(stored)"
        switch self {
        case .avenc_ffv1, .jpegenc: return convert
        case .x264enc, .openh264enc, .vp8enc, .vp9enc, .av1enc:
            let least = self == .av1enc ? 4 : 2
            return (info.map { Self.even($0, atLeast: least) } ?? "") + convert
        }
    }

    /// 4:2:0 needs an even width and height: cuts off the last column or row, and scales what is smaller than
    /// the encoder takes.
    private static func even(_ info: VideoInfo, atLeast least: Int) -> String {
        let (right, bottom) = (info.width % 2, info.height % 2)
        guard info.width >= least, info.height >= least else {
            let (width, height) = (max(least, info.width - right), max(least, info.height - bottom))
            return "videoscale add-borders=false ! video/x-raw,width=\(width),height=\(height),"
                + "pixel-aspect-ratio=1/1 ! "
        }
        return (right, bottom) == (0, 0)
            ? "" : "videocrop right=\(right) bottom=\(bottom) ! "
    }
}
