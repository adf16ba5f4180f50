/// How one stream of a recording becomes units: raw media is encoded, encoded media is copied.
struct RecordingRecipe: Sendable {
    let container: RecordingContainer
    /// `nil` if only encoded media is taken.
    let encoder: EncoderRecipe?
    /// Whether encoded media is taken. It is not if a codec, or a size, was requested.
    private let takesUnits: Bool

    init(_ encoding: VideoEncoding, in container: RecordingContainer) throws(PipelineError) {
        self.container = container
        encoder = encoding.isCopy ? nil : try EncoderRecipe(encoding, in: container)
        takesUnits = encoding.codec == nil && (encoding.isCopy || encoding.size == nil)
    }

    init(_ encoding: AudioEncoding, in container: RecordingContainer) throws(PipelineError) {
        self.container = container
        encoder = encoding.isCopy ? nil : try EncoderRecipe(encoding, in: container)
        takesUnits = encoding.codec == nil
    }

    /// The codec and the encoder for reports before the first frame.
    var described: (codec: String, element: String) {
        encoder.map { ($0.codec, $0.element) } ?? ("copy", "copy")
    }

    /// Returns the pipeline for a raw stream.
    ///
    /// - Throws: ``PipelineError`` if the recording only copies.
    func pipeline(
        for caps: Caps, rotation: VideoRotation, _ kind: RecordingKind
    ) throws(PipelineError) -> UnitPipeline {
        guard let encoder else {
            throw PipelineError(
                .streamFailed,
                message:
                    "the stream \"\(kind.name)\" is \(caps.mediaType), but the recording copies "
                    + "only encoded streams",
                advice: "put an encoder into the capture, or select a codec other than copy")
        }
        return encoder.pipeline(for: caps, rotation: rotation)
    }

    /// Returns the pipeline for a stream that comes encoded.
    ///
    /// - Throws: ``PipelineError`` if it cannot be copied.
    func pipeline(
        copying first: MediaSample, _ kind: RecordingKind
    ) throws(PipelineError) -> UnitPipeline {
        guard takesUnits else { throw .notRaw(first.caps, kind) }
        guard let recipe = CopyRecipe(first, in: container) else {
            throw PipelineError(
                .streamFailed,
                message:
                    "the stream \"\(kind.name)\" is \(first.caps.mediaType), which a recording "
                    + "cannot copy into .\(container.rawValue)",
                advice: "put decodebin at the end of the string to encode it again, or use another "
                    + "file extension")
        }
        return recipe.pipeline(of: kind)
    }
}

extension PipelineError {
    /// The error for media that would have to be decoded first.
    static func notRaw(_ caps: Caps, _ kind: RecordingKind) -> PipelineError {
        PipelineError(
            .streamFailed,
            message: "the stream \"\(kind.name)\" of a recording is \(caps.mediaType), and must be "
                + "\(kind.name)/x-raw",
            advice: caps.mediaType == "audio/x-raw"
                ? "name the appsink of the audio: appsink name=audio"
                : "put decodebin at the end of the string")
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
    /// See ``RecorderReport/Track/converted``.
    var converted: String?
}

// MARK: - Copies

/// Translates the caps of encoded media into a pipeline string that brings its units into the form
/// that a container demands, without decoding them.
struct CopyRecipe: Sendable {
    /// The codec's name, for reports: `h264`.
    let codec: String
    private let elements: String

    /// The caps of a unit's stream, as far as they decide how it is copied.
    private struct Stream {
        let mediaType: String
        let isMPEG1: Bool
        let lacksDecodingTimes: Bool
    }

    /// Returns the recipe for a stream; `nil` if the container does not take it.
    ///
    /// - Parameter first: The first unit of the stream.
    init?(_ first: MediaSample, in container: RecordingContainer) {
        let stream = Stream(
            mediaType: first.caps.mediaType,
            isMPEG1: first.caps.isMPEG1Sound,
            lacksDecodingTimes: first.buffer.decodingTime == nil)
        guard
            let (codec, elements) = Self.pictures(stream, container)
                ?? Self.sound(stream, container)
        else { return nil }
        self.codec = codec
        self.elements = elements
    }

    /// Returns the codecs of pictures that the container takes.
    static func pictureCodecs(in container: RecordingContainer) -> Set<VideoCodec> {
        VideoCodec.named.filter { codec in
            let stream = Stream(
                mediaType: codec.mediaType, isMPEG1: false, lacksDecodingTimes: false)
            return pictures(stream, container) != nil
        }
    }

    func pipeline(of kind: RecordingKind) -> UnitPipeline {
        UnitPipeline(
            text: "appsrc name=\(kind.name) ! \(elements)appsink name=units", codec: codec,
            element: "copy", isCopy: true)
    }

    private typealias Form = (codec: String, elements: String)

    private static func pictures(_ stream: Stream, _ container: RecordingContainer) -> Form? {
        switch (stream.mediaType, container) {
        case ("video/x-h264", .mkv), ("video/x-h264", .mp4), ("video/x-h264", .ts):
            ("h264", parsed("h264", "avc", stream, container))
        case ("video/x-h265", .mkv), ("video/x-h265", .mp4), ("video/x-h265", .ts):
            ("h265", parsed("h265", "hvc1", stream, container))
        case ("video/x-vp8", .mkv), ("video/x-vp8", .webm): ("vp8", "")
        // Not in mp4: mp4mux 1.22 crashes if the caps lack fields that only an encoder provides.
        case ("video/x-vp9", .mkv), ("video/x-vp9", .webm):
            ("vp9", "vp9parse ! video/x-vp9,alignment=super-frame ! ")
        case ("video/x-av1", .mkv), ("video/x-av1", .webm), ("video/x-av1", .mp4):
            ("av1", "av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu ! ")
        case ("image/jpeg", .mkv): ("mjpeg", "")
        default: nil
        }
    }

    /// Returns the elements for H.264 and H.265. Matroska and RTP do not carry the decoding times of
    /// reordered pictures. If a container needs them and the stream has none, an element restores them.
    /// It holds back as many units as the stream may reorder.
    ///
    /// - Parameter form: The form in which the codec data is in the caps. h264timestamper 1.22 gives
    ///   a byte stream wrong times.
    private static func parsed(
        _ codec: String, _ form: String, _ stream: Stream, _ container: RecordingContainer
    ) -> String {
        func caps(_ form: String) -> String {
            "video/x-\(codec),stream-format=\(form),alignment=au ! "
        }
        let parser = "\(codec)parse ! " + caps(form)
        let isOrdered = container == .mkv || !stream.lacksDecodingTimes
        let ordered = isOrdered ? "" : parser + "\(codec)timestamper ! "
        guard container == .ts else { return ordered.isEmpty ? parser : ordered }
        return ordered + "\(codec)parse config-interval=-1 ! " + caps("byte-stream")
    }

    private static func sound(_ stream: Stream, _ container: RecordingContainer) -> Form? {
        switch (stream.mediaType, container) {
        case ("audio/x-opus", .mkv), ("audio/x-opus", .webm): ("opus", "")
        case ("audio/x-vorbis", .mkv), ("audio/x-vorbis", .webm): ("vorbis", "")
        case ("audio/x-flac", .mkv): ("flac", "flacparse ! audio/x-flac ! ")
        case ("audio/x-alaw", .mkv): ("alaw", "")
        case ("audio/x-mulaw", .mkv): ("mulaw", "")
        case ("audio/mpeg", .webm): nil
        // MPEG audio in a transport stream is read back as AAC.
        case ("audio/mpeg", .ts) where stream.isMPEG1: nil
        case ("audio/mpeg", _) where stream.isMPEG1:
            ("mp3", "mpegaudioparse ! audio/mpeg,mpegversion=1 ! ")
        // ADTS may announce MPEG-2 AAC, whose units are identical to those of MPEG-4.
        case ("audio/mpeg", .ts): ("aac", "aacparse ! audio/mpeg,stream-format=adts ! ")
        case ("audio/mpeg", .mp4):
            (
                "aac",
                "aacparse ! audio/mpeg,stream-format=raw "
                    + "! capssetter caps=audio/mpeg,mpegversion=4 ! "
            )
        case ("audio/mpeg", _): ("aac", "aacparse ! audio/mpeg,stream-format=raw ! ")
        case ("audio/x-ac3", .mkv), ("audio/x-ac3", .ts):
            ("ac3", "ac3parse ! audio/x-ac3 ! ")
        default: nil
        }
    }
}
