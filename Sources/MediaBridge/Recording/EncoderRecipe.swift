/// From an encoding to the elements that do it, among those that are installed.
///
/// Encoders give a unit for every picture at once: no look-ahead, no pictures out of order. What has
/// gone in is in the file when the process dies.
struct EncoderRecipe: Sendable {
    /// The encoder's factory name, for reports: `x264enc`.
    let element: String
    /// The codec's name.
    let codec: String
    private let kind: Kind
    private enum Kind: Sendable {
        case video(VideoCodec, VideoEncoding)
        case audio(AudioCodec, AudioEncoding)
    }
    private let container: RecordingContainer

    /// Bits in a second that encoders can be asked for.
    private static let bitrates = 1_000...2_000_000_000
    /// What they are given of themselves at most.
    private static let mostBits = 200_000_000.0
    /// Pictures in a second that are believed: some sources announce the ticks of their clock.
    private static let rates = 1.0...120.0

    private static func check(_ bitrate: Int?) throws(PipelineError) {
        guard let bitrate, !bitrates.contains(bitrate) else { return }
        throw PipelineError(
            .badValue, message: "no encoder makes \(bitrate) bits a second",
            advice: "\(bitrates.lowerBound) to \(bitrates.upperBound)")
    }

    init(_ encoding: VideoEncoding, in container: RecordingContainer) throws(PipelineError) {
        try Self.check(encoding.bitrate)
        let (codec, element) = try Self.choose(
            asked: encoding.codec, among: container.videoCodecs, container,
            elements: \.encoders)
        self.element = element
        self.codec = codec.rawValue
        self.container = container
        kind = .video(codec, encoding)
    }

    init(_ encoding: AudioEncoding, in container: RecordingContainer) throws(PipelineError) {
        try Self.check(encoding.bitrate)
        let (codec, element) = try Self.choose(
            asked: encoding.codec, among: container.audioCodecs, container,
            elements: \.encoders)
        self.element = element
        self.codec = codec.rawValue
        self.container = container
        kind = .audio(codec, encoding)
    }

    private static func choose<Codec: RawRepresentable<String> & Equatable>(
        asked: Codec?, among codecs: [Codec], _ container: RecordingContainer,
        elements: KeyPath<Codec, [String]>
    ) throws(PipelineError) -> (Codec, String) {
        if let asked, !codecs.contains(asked) {
            throw PipelineError(
                .badValue, message: "\(container.rawValue) does not hold \(asked.rawValue)",
                advice: codecs.map(\.rawValue).joined(separator: ", ")
                    + ", or a file of another ending")
        }
        for codec in asked.map({ [$0] }) ?? codecs {
            for element in codec[keyPath: elements] where try ElementFactory.find(element) != nil {
                return (codec, element)
            }
        }
        // The error names the package.
        let wanted = asked ?? codecs[0]
        try ElementFactory.require(wanted[keyPath: elements][0])
        throw PipelineError(.missingElement, message: "no encoder for \(wanted.rawValue)")
    }

    /// The whole string, from the program's buffers to encoded units.
    ///
    /// - Parameters:
    ///   - caps: What comes in first; the encoder is set up for it.
    ///   - rotation: How far pictures must be turned clockwise to stand upright, which they are: not
    ///     every container can say it, nor does every player listen.
    func text(for caps: Caps, rotation: VideoRotation = .none) -> String {
        switch kind {
        case .video(let codec, let encoding):
            let info = VideoInfo(caps)
            return "appsrc name=\(RecordingKind.video.name) ! "
                + picture(codec, info) + upright(rotation)
                + " ! \(encoder(codec, encoding, info)) ! \(form(codec)) ! appsink name=units"
        case .audio(let codec, let encoding):
            let sound = caps.soundLayout
            return "appsrc name=\(RecordingKind.audio.name) ! audioconvert ! audioresample ! "
                + "audio/x-raw,rate=\(rate(codec, sound.rate)),channels=\(sound.channels) ! "
                + encoder(codec, encoding, channels: sound.channels)
                + " ! \(form(codec)) ! appsink name=units"
        }
    }

    /// The longest time between two pictures that build on none.
    var keyFrameInterval: MediaTime {
        guard case .video(_, let encoding) = kind else { return MediaTime(seconds: 1) }
        return max(MediaTime(encoding.keyFrameInterval), MediaTime(nanoseconds: 1_000_000))
    }

    /// Samples of silence that the encoder puts in front and tells nobody of: the first unit is made of
    /// them, and what follows sounds so much later than its time says. Measured with a click.
    var hiddenDelay: Int {
        switch element {
        case "avenc_aac": 1024
        case "voaacenc": 1536
        default: 0
        }
    }

    // MARK: Pictures

    private func upright(_ rotation: VideoRotation) -> String {
        switch rotation {
        case .none: ""
        case .rotation90: " ! videoflip video-direction=90r"
        case .rotation180: " ! videoflip video-direction=180"
        case .rotation270: " ! videoflip video-direction=90l"
        }
    }

    private func picture(_ codec: VideoCodec, _ info: VideoInfo?) -> String {
        switch codec {
        case .ffv1: return "videoconvert"
        case .mjpeg: return "videoconvert ! video/x-raw,format=I420"
        case .h264, .vp8, .vp9:
            // What every player shows has half the colour in each direction, so even sides.
            let odd = info.map { (right: $0.width % 2, bottom: $0.height % 2) }
            let crop =
                odd.map { $0 != (0, 0) ? "videocrop right=\($0.right) bottom=\($0.bottom) ! " : "" }
                ?? ""
            return crop + "videoconvert ! video/x-raw,format=I420"
        }
    }

    private func encoder(
        _ codec: VideoCodec, _ encoding: VideoEncoding, _ info: VideoInfo?
    ) -> String {
        let said = info?.frameRate.map { Double($0.numerator) / Double(max(1, $0.denominator)) }
        let rate = min(max(said ?? 30, Self.rates.lowerBound), Self.rates.upperBound)
        // The recorder asks for key frames in time; this is for an encoder that does not listen.
        let frames = Int(min(max(1, 2 * keyFrameInterval.seconds * rate), 1e9).rounded(.up))
        let pixels = Double((info?.width ?? 1280) * (info?.height ?? 720))
        let bits = encoding.bitrate ?? Int(min(max(250_000, pixels * rate / 10), Self.mostBits))
        switch element {
        case "x264enc":
            let quality =
                encoding.bitrate.map { "pass=cbr bitrate=\(max(1, $0 / 1000))" }
                ?? "pass=qual quantizer=22"
            // Cuts need no key frame of their own, and would move those that segments begin with.
            return "x264enc tune=zerolatency speed-preset=superfast option-string=scenecut=0"
                + " key-int-max=\(frames) \(quality)"
        case "openh264enc":
            return "openh264enc gop-size=\(frames) bitrate=\(bits) rate-control=bitrate"
        case "vp8enc", "vp9enc":
            // The threads of libvpx's VP8 wait for each other in busy loops: where they do not all get a
            // core, two take many times what one does, and the encoder falls behind.
            let threads = element == "vp9enc" ? "threads=2 row-mt=true" : "threads=1"
            // Times are the frames' own, not counted by the rate that the first of them announced.
            return "\(element) timebase=1/90000 deadline=1 cpu-used=8 lag-in-frames=0"
                + " auto-alt-ref=false keyframe-max-dist=\(frames) end-usage=vbr target-bitrate=\(bits) \(threads)"
        case "jpegenc": return "jpegenc quality=90"
        case "avenc_ffv1": return "avenc_ffv1 gop-size=1"
        default: return element
        }
    }

    private func form(_ codec: VideoCodec) -> String {
        switch codec {
        case .h264 where container == .ts:
            "h264parse config-interval=-1 ! video/x-h264,stream-format=byte-stream,alignment=au"
        case .h264: "h264parse ! video/x-h264,stream-format=avc,alignment=au"
        case .vp8: "video/x-vp8"
        case .vp9: "vp9parse ! video/x-vp9,alignment=super-frame"
        case .mjpeg: "image/jpeg"
        // The muxer asks for the field under another name than the encoder gives it.
        case .ffv1: #"capssetter caps="video/x-ffv,ffversion=(int)1" ! video/x-ffv"#
        }
    }

    // MARK: Sound

    /// Opus knows five rates, and its files bear 48 kHz anyway.
    private func rate(_ codec: AudioCodec, _ rate: Int) -> Int { codec == .opus ? 48_000 : rate }

    private func encoder(_ codec: AudioCodec, _ encoding: AudioEncoding, channels: Int) -> String {
        let bits = encoding.bitrate ?? 64_000 * channels
        switch element {
        case "opusenc": return "opusenc bitrate=\(min(650_000, max(4_000, bits)))"
        // Blocks of a twentieth of a second at most: what is not in a block is not in the file.
        case "flacenc": return "flacenc blocksize=1152"
        case "voaacenc", "avenc_aac": return "\(element) bitrate=\(bits)"
        default: return element
        }
    }

    private func form(_ codec: AudioCodec) -> String {
        switch codec {
        case .opus: "audio/x-opus"
        case .aac where container == .ts:
            "aacparse ! audio/mpeg,mpegversion=4,stream-format=adts"
        case .aac: "aacparse ! audio/mpeg,mpegversion=4,stream-format=raw"
        case .flac: "flacparse ! audio/x-flac"
        }
    }
}

extension VideoCodec {
    /// Elements that encode it, the favourite first.
    fileprivate var encoders: [String] {
        switch self {
        case .h264: ["x264enc", "openh264enc"]
        case .vp8: ["vp8enc"]
        case .vp9: ["vp9enc"]
        case .mjpeg: ["jpegenc"]
        case .ffv1: ["avenc_ffv1"]
        }
    }
}

extension AudioCodec {
    /// Elements that encode it, the favourite first.
    fileprivate var encoders: [String] {
        switch self {
        case .opus: ["opusenc"]
        case .aac: ["avenc_aac", "voaacenc"]
        case .flac: ["flacenc"]
        }
    }
}
