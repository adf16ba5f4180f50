/// How one stream of a recording becomes units: raw media is encoded with an encoder that is
/// installed, encoded media is copied.
///
/// Encoders are set up to deliver a unit for every picture at once: no look-ahead, no reordering.
/// So if the process dies, the file contains everything that was pushed.
struct RecordingRecipe: Sendable {
    private enum Encoder: Sendable {
        case video(VideoEncoderElement, VideoEncoding)
        case audio(AudioEncoderElement, AudioEncoding)
    }
    private let container: RecordingContainer
    /// `nil` if only encoded media is taken.
    private let encoder: Encoder?
    /// The elements that bring the encoder's units into the form that the container demands.
    private let form: String
    /// Whether encoded media is taken. It is not if a codec, or a size, was requested.
    private let takesUnits: Bool

    /// The codec and the encoder for reports before the first frame: `h264`, `x264enc`.
    let described: (codec: String, element: String)

    init(_ video: VideoEncoding, in container: RecordingContainer) throws(PipelineError) {
        let takesUnits = video.size == nil || video.isCopy
        try self.init(video, container, takesUnits: takesUnits) { .video($0, video) }
    }

    /// Returns a recipe with the next encoder of pictures.
    ///
    /// - Parameter broken: The factory names of the encoders that failed.
    /// - Throws: ``PipelineError`` if no other encoder works.
    func without(_ broken: Set<String>) throws(PipelineError) -> RecordingRecipe {
        guard case .video(_, let video) = encoder else { return self }
        return try RecordingRecipe(video, container, takesUnits: takesUnits, without: broken) {
            .video($0, video)
        }
    }

    init(_ audio: AudioEncoding, in container: RecordingContainer) throws(PipelineError) {
        try self.init(audio, container, takesUnits: true) { .audio($0, audio) }
    }

    private init<Encoding: MediaEncoding>(
        _ encoding: Encoding, _ container: RecordingContainer, takesUnits: Bool,
        without broken: Set<String> = [], _ make: (Encoding.Codec.Encoder) -> Encoder
    ) throws(PipelineError) {
        self.container = container
        self.takesUnits =
            takesUnits && encoding.codec == nil
            && (encoding.isCopy || encoding.bitRate == nil && encoding.request == nil)
        if encoding.isCopy {
            (encoder, described, form) = (nil, ("copy", "copy"), "")
        } else {
            let element = try encoding.encoder(for: container, without: broken)
            encoder = make(element)
            described = (element.codec.rawValue, element.factoryName)
            form = element.codec.row?.forms[container] ?? ""
        }
    }

    // MARK: Pipelines

    /// Loads the plugins of the encoder's pipeline. With the first frame it would be too late: a
    /// large one such as libav takes long enough for a live capture to evict frames.
    ///
    /// - Throws: ``PipelineError`` if an element is not installed.
    func load(_ stream: RecordedStream) throws(PipelineError) {
        guard encoder != nil else { return }
        let usual =
            switch stream.kind {
            case .video: "video/x-raw,format=I420,width=640,height=480,framerate=30/1"
            case .audio: "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
            }
        _ = try Pipeline(
            parsing: try pipeline(for: try Caps(usual), rotation: .upright, stream).text)
    }

    /// Returns the pipeline for a raw stream.
    ///
    /// - Parameters:
    ///   - caps: The caps of the first buffer; the encoder is set up for them.
    ///   - rotation: How far the pictures must be rotated clockwise to be upright. The pipeline
    ///     rotates them, because not every container can store the rotation, and not every player
    ///     applies it.
    /// - Throws: ``PipelineError`` if the recording only copies.
    func pipeline(
        for caps: Caps, rotation: VideoRotation, _ stream: RecordedStream
    ) throws(PipelineError) -> UnitPipeline {
        switch encoder {
        case .video(let encoder, let encoding):
            let info = VideoInfo(caps)
            if let info { try require(encoder, (info.width, info.height)) }
            let elements =
                encoder.picture(info, rotation) + Self.upright(rotation)
                + " ! \(encoder.text(encoding.setup(info))) ! "
            // mp4mux up to 1.28 dereferences null if the caps of VP9 lack the chroma site.
            let site =
                encoder.codec == .vp9 && container == .mp4
                ? "capssetter caps=\"video/x-vp9,chroma-site=(string)\(info?.chromaSite ?? "mpeg2")\" ! "
                : ""
            var pipeline = pipeline(of: stream, elements + form + site)
            pipeline.keyFrameInterval = encoding.longestKeyFrameInterval
            pipeline.isHardware = encoder.isHardware
            pipeline.converted = encoder.conversion(of: info, rotation)
            return pipeline
        case .audio(let encoder, let encoding):
            guard let info = AudioInfo(caps) else { throw .notRaw(caps, stream) }
            let sound = try EncodedSound(info, for: encoder)
            let settings = encoder.text(bitRate: encoding.bitRate ?? 64_000 * info.channels)
            var pipeline = pipeline(of: stream, "\(sound.elements)\(settings) ! \(form)")
            pipeline.hiddenDelay = encoder.hiddenDelay
            pipeline.converted = sound.converted
            return pipeline
        case nil:
            throw PipelineError(
                .streamFailed,
                message:
                    "the stream \"\(stream.name)\" is \(caps.mediaType), but the recording copies "
                    + "only encoded streams",
                advice: "put an encoder into the capture, or select a codec other than copy")
        }
    }

    /// Refuses pictures that the container or the encoder does not take. GStreamer would only report that caps were
    /// not accepted, after the file was begun.
    ///
    /// - Parameter encoder: `nil` for pictures that are copied.
    private func require(
        _ encoder: VideoEncoderElement?, _ size: (width: Int, height: Int)
    ) throws(PipelineError) {
        let side = min(size.width, size.height)
        // For other encoders, small pictures are scaled.
        let isScaled = encoder?.keepsOddSizes == false
        let least = max(container.leastSide, isScaled ? 1 : encoder?.leastSide ?? 1)
        guard (isScaled ? max(encoder?.leastSide ?? 2, side & ~1) : side) < least else { return }
        let taker = container.leastSide > 1 ? ".\(container.rawValue)" : "FFV1"
        throw PipelineError(
            .streamFailed,
            message:
                "pictures of \(size.width)x\(size.height) are too small for \(taker), which takes "
                + "\(least)x\(least) at least",
            advice: "record H.264 into .mkv, or scale the pictures, for example with --size 16x16")
    }

    /// - Parameter elements: Each before an exclamation mark.
    private func pipeline(of stream: RecordedStream, _ elements: String) -> UnitPipeline {
        UnitPipeline(
            text: "appsrc name=\(stream.name) ! \(elements)appsink name=units",
            codec: described.codec, element: described.element)
    }

    /// Returns the elements that encode pictures of a format, each before an exclamation mark.
    func elements(_ encoding: VideoEncoding, _ info: VideoInfo) -> String {
        guard case .video(let encoder, _) = encoder else { return "" }
        return encoder.picture(info, .upright) + " ! \(encoder.text(encoding.setup(info))) ! "
            + form
    }

    private static func upright(_ rotation: VideoRotation) -> String {
        switch rotation {
        case .upright: ""
        case .rotation90: " ! videoflip video-direction=90r"
        case .rotation180: " ! videoflip video-direction=180"
        case .rotation270: " ! videoflip video-direction=90l"
        }
    }

    /// Returns the pipeline for a stream that comes encoded.
    ///
    /// - Throws: ``PipelineError`` if it cannot be copied.
    func pipeline(
        copying first: MediaSample, _ stream: RecordedStream
    ) throws(PipelineError) -> UnitPipeline {
        guard takesUnits, first.caps.mayBe(stream.kind) else { throw .notRaw(first.caps, stream) }
        if stream == .video, let size = first.caps.pictureSize { try require(nil, size) }
        let copy =
            switch stream.kind {
            case .video: copy(VideoCodec(mediaType: first.caps.mediaType), first, stream)
            case .audio: copy(AudioCodec(first.caps), first, stream)
            }
        if let copy { return copy }
        throw PipelineError(
            .streamFailed,
            message:
                "the stream \"\(stream.name)\" is \(first.caps.mediaType), which a recording "
                + "cannot copy into .\(container.rawValue)",
            advice:
                "decode it in the capture, for example with decodebin, to encode it again; or use "
                + "another file extension")
    }

    private func copy(
        _ codec: some TabledCodec, _ first: MediaSample, _ stream: RecordedStream
    ) -> UnitPipeline? {
        let hasDecodingTimes = first.buffer.decodingTime != nil
        guard
            let form = codec.form(copiedInto: container, hasDecodingTimes: hasDecodingTimes)
        else { return nil }
        return UnitPipeline(
            text: "appsrc name=\(stream.name) ! \(form)appsink name=units",
            codec: codec.rawValue, element: "copy", isCopy: true)
    }
}

extension VideoEncoding {
    /// The longest time between two key frames; at least 1 ms.
    var longestKeyFrameInterval: MediaTime {
        max(MediaTime(keyFrameInterval), MediaTime(nanoseconds: 1_000_000))
    }

    /// Upper limit for the bit rate that is chosen automatically, in bits per second.
    private static let mostBits = 200_000_000.0
    /// The frame rates that are trusted, in frames per second: some sources announce the ticks of
    /// their clock.
    private static let rates = 1.0...120.0

    /// Returns how an encoder is set up for pictures of a format.
    fileprivate func setup(_ info: VideoInfo?) -> VideoEncoderSetup {
        let stated = info?.frameRate.map { Double($0.numerator) / Double(max(1, $0.denominator)) }
        let rate = min(max(stated ?? 30, Self.rates.lowerBound), Self.rates.upperBound)
        // For encoders without a constant quality.
        let share = quality == .low ? 0.05 : quality == .high ? 0.2 : 0.1
        let pixels = Double((info?.width ?? 1280) * (info?.height ?? 720))
        return VideoEncoderSetup(
            bitRate: bitRate ?? Int(min(max(250_000, pixels * rate * share), Self.mostBits)),
            hasBitRate: bitRate != nil, quality: quality, frameRate: rate,
            keyFrameInterval: longestKeyFrameInterval, parameterSet: parameterSet)
    }
}

extension TabledCodec {
    /// Returns the elements that bring encoded media into the form that a container demands, each
    /// before an exclamation mark; `nil` if the container does not take it.
    ///
    /// Matroska and RTP do not carry the decoding times of reordered pictures. If a container needs
    /// them and the stream has none, an element restores them. It holds back as many units as the
    /// stream may reorder. h264timestamper 1.22 gives a byte stream wrong times.
    func form(copiedInto container: RecordingContainer, hasDecodingTimes: Bool) -> String? {
        guard let row, row.copies(into: container), let form = row.forms[container] else {
            return nil
        }
        guard container != .mkv, !hasDecodingTimes, let timestamper = row.timestamper else {
            return form
        }
        let ordered = "\(row.forms[.mp4] ?? "")\(timestamper) ! "
        return container == .ts ? ordered + form : ordered
    }
}

extension CodecRow {
    /// The factory names of the elements that bring units into a container's form.
    func elements(in container: RecordingContainer) -> [String] {
        (forms[container] ?? "").split(separator: "!").compactMap { part in
            let name = part.split(separator: " ").first.map(String.init)
            return name.flatMap { $0.contains("/") ? nil : $0 }
        }
    }

    /// Returns whether encoded media is copied into a container.
    func copies(into container: RecordingContainer) -> Bool {
        forms[container] != nil && !encodedOnly.contains(container)
    }
}

extension PipelineError {
    /// The error for media that would have to be decoded first.
    static func notRaw(_ caps: Caps, _ stream: RecordedStream) -> PipelineError {
        PipelineError(
            .streamFailed,
            message:
                "the stream \"\(stream.name)\" of a recording is \(caps.mediaType), and must "
                + "be \(stream.kind.rawValue)/x-raw",
            advice: advice(for: caps, as: stream.kind))
    }

    private static func advice(for caps: Caps, as kind: MediaKind) -> String {
        if caps.mayBe(kind) {
            return "decode it in the capture, for example with decodebin, or select copy"
        }
        let other: MediaKind = kind == .video ? .audio : .video
        return caps.mayBe(other)
            ? "name the appsink of the \(other.rawValue): appsink name=\(other.rawValue)"
            : "use a capture with \(kind.rawValue): gst-discoverer-1.0 lists the streams of a file"
    }
}

extension Caps {
    /// Whether the media type may be that of a kind.
    fileprivate func mayBe(_ kind: MediaKind) -> Bool {
        mediaType.hasPrefix("\(kind.rawValue)/") || kind == .video && mediaType.hasPrefix("image/")
    }
}

/// The pipeline that makes a stream's units, and what to know of it.
struct UnitPipeline: Sendable {
    /// The complete string, from an appsrc to an appsink named units.
    let text: String
    /// The codec's name, for reports: `h264`.
    let codec: String
    /// The encoder's factory name, for reports; `copy` for units that are recorded as they came.
    let element: String
    /// The longest time between two key frames that the encoder is asked for; `nil` without one.
    var keyFrameInterval: MediaTime?
    /// See ``AudioEncoderElement/hiddenDelay``.
    var hiddenDelay = 0
    /// Whether the units are recorded as they came.
    var isCopy = false
    /// Whether the encoder needs a device.
    var isHardware = false
    /// See ``RecorderReport/Track/converted``.
    var converted: String?
}
