// How the encoders are set up for recordings.
extension VideoEncoderElement: RecordingEncoder {
    var hasBitRate: Bool {
        switch self {
        case .x264enc, .openh264enc, .vp8enc, .vp9enc, .av1enc: true
        case .jpegenc, .avenc_ffv1: false
        }
    }

    /// Upper limit for the bit rate that is chosen automatically, in bits per second.
    private static let mostBits = 200_000_000.0
    /// The frame rates that are trusted, in frames per second: some sources announce the ticks of
    /// their clock.
    private static let rates = 1.0...120.0

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

    /// The pixel format that the encoder gets: of those that each of the elements takes, the one that loses least.
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

    /// Returns the encoder with its properties, as part of a pipeline string.
    func settings(_ encoding: VideoEncoding, _ info: VideoInfo?) -> String {
        let stated = info?.frameRate.map { Double($0.numerator) / Double(max(1, $0.denominator)) }
        let rate = min(max(stated ?? 30, Self.rates.lowerBound), Self.rates.upperBound)
        // The recorder requests key frames by time; this limit is for an encoder that ignores the
        // requests.
        let interval = encoding.longestKeyFrameInterval.seconds
        let frames = Int(min(max(1, 2 * interval * rate), 1e9).rounded(.up))
        let pixels = Double((info?.width ?? 1280) * (info?.height ?? 720))
        let bits = encoding.bitRate ?? Int(min(max(250_000, pixels * rate / 10), Self.mostBits))
        switch self {
        case .x264enc:
            let quality =
                encoding.bitRate.map { "pass=cbr bitrate=\(max(1, $0 / 1000))" }
                ?? "pass=qual quantizer=22"
            // Scene cuts need no key frames. Their key frames would also shift the segment boundaries.
            let set = encoding.parameterSet.map { ":sps-id=\($0)" } ?? ""
            return "x264enc tune=zerolatency speed-preset=superfast option-string=scenecut=0\(set)"
                + " key-int-max=\(frames) \(quality)"
        case .openh264enc:
            return "openh264enc gop-size=\(frames) bitrate=\(bits) rate-control=bitrate"
        case .vp8enc, .vp9enc:
            // The VP8 threads of libvpx wait for each other in busy loops. Unless each thread has its own core,
            // two threads take many times the CPU time of one, and the encoder falls behind.
            let threads = self == .vp9enc ? "threads=2 row-mt=true" : "threads=1"
            // Timestamps are the frames' own, not computed from the frame rate of the first caps.
            return "\(rawValue) timebase=1/90000 deadline=1 cpu-used=8 lag-in-frames=0"
                + " auto-alt-ref=false keyframe-max-dist=\(frames) end-usage=vbr target-bitrate=\(bits) \(threads)"
        case .av1enc:
            return
                "av1enc usage-profile=realtime cpu-used=8 lag-in-frames=0 keyframe-max-dist=\(frames)"
                + " end-usage=vbr target-bitrate=\(max(1, bits / 1000)) threads=2 row-mt=true"
        case .jpegenc: return "jpegenc quality=90"
        case .avenc_ffv1: return "avenc_ffv1 gop-size=1"
        }
    }
}

extension VideoEncoding {
    /// The longest time between two key frames; at least 1 ms.
    var longestKeyFrameInterval: MediaTime {
        max(MediaTime(keyFrameInterval), MediaTime(nanoseconds: 1_000_000))
    }
}

extension AudioEncoderElement: RecordingEncoder {
    var hasBitRate: Bool {
        switch self {
        case .opusenc, .voaacenc, .avenc_aac: true
        case .flacenc, .audioconvert: false
        }
    }

    /// Returns the encoder with its properties, as part of a pipeline string.
    func settings(_ encoding: AudioEncoding, channels: Int) -> String {
        let bits = encoding.bitRate ?? 64_000 * channels
        switch self {
        case .opusenc: return "opusenc bitrate=\(min(650_000, max(4_000, bits)))"
        // Blocks of a twentieth of a second at most: an incomplete block is not in the file yet.
        case .flacenc: return "flacenc blocksize=1152"
        case .audioconvert:
            return
                "audioconvert ! audio/x-raw,format={S16LE,U8,S24LE,S32LE,F32LE,F64LE},layout=interleaved"
        case .voaacenc: return "voaacenc bitrate=\(bits)"
        // GStreamer's default forces mid/side coding in every band, where libavcodec's chooses: a tone of one
        // channel is then heard in the other.
        // A number, because 1.22 has a Boolean and later versions have an enumeration.
        case .avenc_aac: return "avenc_aac aac-ms=0 bitrate=\(bits)"
        }
    }

    /// Number of samples of silence that the encoder inserts at the beginning without reporting it:
    /// its first unit consists of them, and everything after it sounds that much later than its
    /// timestamp. Measured with a click.
    var hiddenDelay: Int {
        switch self {
        case .avenc_aac: 1024
        case .voaacenc: 1536
        case .opusenc, .flacenc, .audioconvert: 0
        }
    }
}
