/// Translates an encoding into a pipeline string, with an encoder that is installed.
///
/// Encoders are set up to deliver a unit for every picture at once: no look-ahead, no reordering.
/// So if the process dies, the file contains everything that was pushed.
struct EncoderRecipe: Sendable {
    private let kind: Kind
    private enum Kind: Sendable {
        case video(VideoEncoderElement, VideoEncoding)
        case audio(AudioEncoderElement, AudioEncoding)
    }
    private let container: RecordingContainer

    /// The encoder's factory name, for reports: `x264enc`.
    let element: String
    /// The codec's name, for reports: `h264`.
    let codec: String

    /// The bit rates that may be requested, in bits per second.
    private static let bitrates = 1_000...2_000_000_000
    /// Upper limit for the bit rate that is chosen automatically, in bits per second.
    private static let mostBits = 200_000_000.0
    /// The frame rates that are trusted, in frames per second: some sources announce the ticks of
    /// their clock.
    private static let rates = 1.0...120.0

    private static func check(_ bitrate: Int?) throws(PipelineError) {
        guard let bitrate, !bitrates.contains(bitrate) else { return }
        throw PipelineError(
            .badValue, message: "a bit rate of \(bitrate) bit/s is out of range",
            advice: "\(bitrates.lowerBound) to \(bitrates.upperBound) bit/s")
    }

    init(_ encoding: VideoEncoding, in container: RecordingContainer) throws(PipelineError) {
        try Self.check(encoding.bitRate)
        let encoder: VideoEncoderElement = try Self.choose(
            asked: encoding.codec, among: container.videoCodecs, container)
        self.container = container
        (element, codec) = (encoder.rawValue, encoder.codec.rawValue)
        kind = .video(encoder, encoding)
    }

    init(_ encoding: AudioEncoding, in container: RecordingContainer) throws(PipelineError) {
        try Self.check(encoding.bitRate)
        let encoder: AudioEncoderElement = try Self.choose(
            asked: encoding.codec, among: container.audioCodecs, container)
        self.container = container
        (element, codec) = (encoder.rawValue, encoder.codec.rawValue)
        kind = .audio(encoder, encoding)
    }

    /// Returns the first installed encoder: of the requested codec, or of the container's codecs in
    /// their order.
    private static func choose<Encoder: EncoderElement>(
        asked: Encoder.Codec?, among codecs: [Encoder.Codec], _ container: RecordingContainer
    ) throws(PipelineError) -> Encoder {
        if let asked, !codecs.contains(asked) {
            throw PipelineError(
                .badValue, message: "\(container.rawValue) cannot contain \(asked.rawValue)",
                advice: codecs.map(\.rawValue).joined(separator: ", ")
                    + ", or another file extension")
        }
        for codec in asked.map({ [$0] }) ?? codecs {
            for encoder in Encoder.all(of: codec)
            where try ElementFactory.find(encoder.rawValue) != nil {
                return encoder
            }
        }
        // This error names the package to install.
        let wanted = asked ?? codecs[0]
        if let encoder = Encoder.all(of: wanted).first {
            try ElementFactory.require(encoder.rawValue)
        }
        throw PipelineError(.missingElement, message: "no encoder for \(wanted.rawValue)")
    }

    /// Returns the pipeline for a stream.
    ///
    /// - Parameters:
    ///   - caps: The caps of the first buffer; the encoder is set up for them.
    ///   - rotation: How far the pictures must be rotated clockwise to be upright. The pipeline
    ///     rotates them, because not every container can store the rotation, and not every player
    ///     applies it.
    func pipeline(for caps: Caps, rotation: VideoRotation) -> UnitPipeline {
        let text = text(for: caps, rotation: rotation)
        return switch kind {
        case .video(let encoder, let encoding):
            UnitPipeline(
                text: text, codec: codec, element: element,
                keyFrameInterval: Self.keyFrameInterval(of: encoding),
                converted: conversion(of: VideoInfo(caps), by: encoder))
        case .audio(let encoder, _):
            UnitPipeline(
                text: text, codec: codec, element: element, hiddenDelay: encoder.hiddenDelay)
        }
    }

    /// Returns the complete pipeline string, from appsrc to an appsink with encoded units.
    private func text(for caps: Caps, rotation: VideoRotation) -> String {
        switch kind {
        case .video(let encoder, let encoding):
            let info = VideoInfo(caps)
            return "appsrc name=\(RecordingKind.video.name) ! "
                + picture(encoder, info) + upright(rotation)
                + " ! \(settings(of: encoder, encoding, info)) ! \(form(encoder))"
                + " ! appsink name=units"
        case .audio(let encoder, let encoding):
            let sound = caps.soundLayout
            return "appsrc name=\(RecordingKind.audio.name) ! audioconvert ! audioresample ! "
                + "audio/x-raw,rate=\(rate(encoder.codec, sound.rate)),channels=\(sound.channels) ! "
                + settings(of: encoder, encoding, channels: sound.channels)
                + " ! \(form(encoder)) ! appsink name=units"
        }
    }

    /// The longest time between two key frames; at least 1 ms.
    private static func keyFrameInterval(of encoding: VideoEncoding) -> MediaTime {
        max(MediaTime(encoding.keyFrameInterval), MediaTime(nanoseconds: 1_000_000))
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

    /// The pixel format that an encoder gets; `nil` for any. Every player shows 8 bits and 4:2:0, to which cameras
    /// and screens are converted. With x264enc and vp9enc, pictures with more bits keep ten bits and their chroma
    /// subsampling.
    private func format(_ encoder: VideoEncoderElement, _ info: VideoInfo?) -> String? {
        switch encoder {
        case .avenc_ffv1: return nil
        case .x264enc, .vp9enc:
            guard let precision = info?.precision, precision.bits > 8 else { return "I420" }
            return switch precision.colours {
            case 4: "Y444_10LE"
            case 2: "I422_10LE"
            default: "I420_10LE"
            }
        case .openh264enc, .vp8enc, .av1enc, .jpegenc: return "I420"
        }
    }

    /// What the conversion for an encoder loses; `nil` if it loses nothing.
    private func conversion(of info: VideoInfo?, by encoder: VideoEncoderElement) -> String? {
        guard let info, let format = format(encoder, info),
            let stored = try? VideoInfo(format: format, width: 2, height: 2),
            info.precision.exceeds(stored.precision)
        else { return nil }
        return "\(info.format) as \(format)"
    }

    private func picture(_ encoder: VideoEncoderElement, _ info: VideoInfo?) -> String {
        let convert =
            "videoconvert" + (format(encoder, info).map { " ! video/x-raw,format=\($0)" } ?? "")
        switch encoder {
        case .avenc_ffv1, .jpegenc: return convert
        case .x264enc, .openh264enc, .vp8enc, .vp9enc, .av1enc:
            let least = encoder == .av1enc ? 4 : 2
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
    private func settings(
        of encoder: VideoEncoderElement, _ encoding: VideoEncoding, _ info: VideoInfo?
    ) -> String {
        let said = info?.frameRate.map { Double($0.numerator) / Double(max(1, $0.denominator)) }
        let rate = min(max(said ?? 30, Self.rates.lowerBound), Self.rates.upperBound)
        // The recorder requests key frames by time; this limit is for an encoder that ignores the
        // requests.
        let interval = Self.keyFrameInterval(of: encoding).seconds
        let frames = Int(min(max(1, 2 * interval * rate), 1e9).rounded(.up))
        let pixels = Double((info?.width ?? 1280) * (info?.height ?? 720))
        let bits = encoding.bitRate ?? Int(min(max(250_000, pixels * rate / 10), Self.mostBits))
        switch encoder {
        case .x264enc:
            let quality =
                encoding.bitRate.map { "pass=cbr bitrate=\(max(1, $0 / 1000))" }
                ?? "pass=qual quantizer=22"
            // Scene cuts need no key frames. Their key frames would also shift the segment boundaries.
            return "x264enc tune=zerolatency speed-preset=superfast option-string=scenecut=0"
                + " key-int-max=\(frames) \(quality)"
        case .openh264enc:
            return "openh264enc gop-size=\(frames) bitrate=\(bits) rate-control=bitrate"
        case .vp8enc, .vp9enc:
            // The VP8 threads of libvpx wait for each other in busy loops. Unless each thread has its own core,
            // two threads take many times the CPU time of one, and the encoder falls behind.
            let threads = encoder == .vp9enc ? "threads=2 row-mt=true" : "threads=1"
            // Timestamps are the frames' own, not computed from the frame rate of the first caps.
            return "\(encoder.rawValue) timebase=1/90000 deadline=1 cpu-used=8 lag-in-frames=0"
                + " auto-alt-ref=false keyframe-max-dist=\(frames) end-usage=vbr target-bitrate=\(bits) \(threads)"
        case .av1enc:
            return
                "av1enc usage-profile=realtime cpu-used=8 lag-in-frames=0 keyframe-max-dist=\(frames)"
                + " end-usage=vbr target-bitrate=\(max(1, bits / 1000)) threads=2 row-mt=true"
        case .jpegenc: return "jpegenc quality=90"
        case .avenc_ffv1: return "avenc_ffv1 gop-size=1"
        }
    }

    private func form(_ encoder: VideoEncoderElement) -> String {
        switch encoder {
        case .x264enc, .openh264enc:
            container == .ts
                ? "h264parse config-interval=-1 ! video/x-h264,stream-format=byte-stream,alignment=au"
                : "h264parse ! video/x-h264,stream-format=avc,alignment=au"
        case .vp8enc: "video/x-vp8"
        case .vp9enc: "vp9parse ! video/x-vp9,alignment=super-frame"
        case .av1enc: "av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu"
        case .jpegenc: "image/jpeg"
        // The muxer requires this field under another name than the encoder's.
        case .avenc_ffv1: #"capssetter caps="video/x-ffv,ffversion=(int)1" ! video/x-ffv"#
        }
    }

    // MARK: Sound

    /// Opus supports five sample rates, and its files state 48 kHz anyway.
    private func rate(_ codec: AudioCodec, _ rate: Int) -> Int { codec == .opus ? 48_000 : rate }

    /// Returns the encoder with its properties, as part of a pipeline string.
    private func settings(
        of encoder: AudioEncoderElement, _ encoding: AudioEncoding, channels: Int
    ) -> String {
        let bits = encoding.bitRate ?? 64_000 * channels
        switch encoder {
        case .opusenc: return "opusenc bitrate=\(min(650_000, max(4_000, bits)))"
        // Blocks of a twentieth of a second at most: an incomplete block is not in the file yet.
        case .flacenc: return "flacenc blocksize=1152"
        case .voaacenc, .avenc_aac: return "\(encoder.rawValue) bitrate=\(bits)"
        }
    }

    private func form(_ encoder: AudioEncoderElement) -> String {
        switch encoder {
        case .opusenc: "audio/x-opus"
        case .voaacenc, .avenc_aac:
            "aacparse ! audio/mpeg,mpegversion=4,stream-format=\(container == .ts ? "adts" : "raw")"
        case .flacenc: "flacparse ! audio/x-flac"
        }
    }
}

// MARK: - Encoders

/// The elements that a recorder encodes with, by factory name. The first installed element of a
/// codec is used.
protocol EncoderElement: CaseIterable, RawRepresentable<String>, Sendable {
    associatedtype Codec: RawRepresentable<String> & Equatable
    var codec: Codec { get }
}

extension EncoderElement {
    /// Returns the elements of a codec, the preferred one first.
    static func all(of codec: Codec) -> [Self] { allCases.filter { $0.codec == codec } }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
enum VideoEncoderElement: String, EncoderElement {
    case x264enc, openh264enc, vp8enc, vp9enc, av1enc, jpegenc, avenc_ffv1

    var codec: VideoCodec {
        switch self {
        case .x264enc, .openh264enc: .h264
        case .vp8enc: .vp8
        case .vp9enc: .vp9
        case .av1enc: .av1
        case .jpegenc: .mjpeg
        case .avenc_ffv1: .ffv1
        }
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
enum AudioEncoderElement: String, EncoderElement {
    case opusenc, avenc_aac, voaacenc, flacenc

    var codec: AudioCodec {
        switch self {
        case .opusenc: .opus
        case .avenc_aac, .voaacenc: .aac
        case .flacenc: .flac
        }
    }

    /// Number of samples of silence that the encoder inserts at the beginning without reporting it:
    /// its first unit consists of them, and everything after it sounds that much later than its
    /// timestamp. Measured with a click.
    var hiddenDelay: Int {
        switch self {
        case .avenc_aac: 1024
        case .voaacenc: 1536
        case .opusenc, .flacenc: 0
        }
    }
}
