/// What differs between codecs, outside of RTP: a row for each codec.
struct CodecRow<Codec: TabledCodec>: Sendable {
    let codec: Codec
    /// The media type in GStreamer's caps.
    let mediaType: String
    /// The fields of the caps of whole units, each after a comma.
    var fields = ""
    /// The same for units whose codec data is in the caps; `nil` if they do not differ.
    var fieldsWithCodecData: String?
    /// The maximum number of units by which a picture may come out after its own unit: the size of the
    /// decoded picture buffer, for codecs that reorder pictures.
    var reordering = 0
    /// Decoders with their settings, the preferred one first. They use one thread: several threads
    /// delay the output by as many pictures. Damaged units must never accumulate to a pipeline
    /// error.
    let decoders: [String]
    /// By container that takes the codec: the elements that bring units into the form that it
    /// demands, each before an exclamation mark.
    var forms: [RecordingContainer: String] = [:]
    /// The containers that take only what was encoded here.
    var encodedOnly: Set<RecordingContainer> = []
    /// The element that restores the decoding times of reordered pictures; `nil` for other codecs.
    var timestamper: String?
}

/// A codec of pictures or of sound.
protocol TabledCodec: RawRepresentable<String>, Hashable, Sendable {
    /// The rows in the order of preference.
    static var table: [CodecRow<Self>] { get }
}

extension TabledCodec {
    /// The codec's row; `nil` for a codec that has only its media type as its name.
    var row: CodecRow<Self>? { Self.table.first { $0.codec == self } }

    /// The media type in GStreamer's caps.
    var mediaType: String { row?.mediaType ?? rawValue }

    /// Returns the codec of a media type; `nil` if the table does not have it.
    fileprivate static func tabled(_ mediaType: String) -> Self? {
        table.first { $0.mediaType == mediaType }?.codec
    }

    /// Returns the installed decoder with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed; with
    ///   ``PipelineError/Code/badValue`` for a codec without a decoder.
    func decoder() throws(PipelineError) -> String {
        let decoder = try (row?.decoders ?? []).firstInstalled { decoder in
            // Other elements may precede a decoder.
            String(decoder.split(separator: "!").last?.split(separator: " ").first ?? "")
        }
        if let decoder { return decoder }
        throw PipelineError(
            .badValue, message: "no decoder is known for \(rawValue)",
            advice: "put decodebin at the end of the capture")
    }
}

extension Array {
    /// Returns the first choice whose element is installed; `nil` if there is no choice.
    ///
    /// - Parameter element: Returns the factory name of a choice.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed; it
    ///   names the Debian package of the first one.
    func firstInstalled(_ element: (Element) -> String) throws(PipelineError) -> Element? {
        for choice in self where try ElementFactory.find(element(choice)) != nil { return choice }
        if let preferred = first { try ElementFactory.require(element(preferred)) }
        return first
    }
}

// MARK: - Pictures

extension VideoCodec: TabledCodec {
    static let table = [
        CodecRow<VideoCodec>(
            codec: .h264, mediaType: "video/x-h264",
            fields: ",stream-format=byte-stream,alignment=au",
            fieldsWithCodecData: ",stream-format=avc,alignment=au", reordering: 16,
            // In strict mode libav delays sixteen pictures if the stream does not declare its reordering.
            decoders: [
                "avdec_h264 max-threads=1 std-compliance=normal max-errors=-1",
                "openh264dec max-errors=-1",
            ], forms: networkUnits("h264", "avc"), timestamper: "h264timestamper"),
        CodecRow(
            codec: .h265, mediaType: "video/x-h265",
            fields: ",stream-format=byte-stream,alignment=au",
            fieldsWithCodecData: ",stream-format=hvc1,alignment=au", reordering: 16,
            decoders: [
                "avdec_h265 max-threads=1 std-compliance=normal max-errors=-1",
                "libde265dec max-errors=-1",
            ], forms: networkUnits("h265", "hvc1"), timestamper: "h265timestamper"),
        CodecRow(
            codec: .vp8, mediaType: "video/x-vp8",
            decoders: ["vp8dec threads=1 max-errors=-1", "avdec_vp8 max-threads=1 max-errors=-1"],
            forms: [.mkv: "", .webm: ""]),
        CodecRow(
            codec: .vp9, mediaType: "video/x-vp9", fields: ",alignment=super-frame",
            decoders: ["vp9dec threads=1 max-errors=-1", "avdec_vp9 max-threads=1 max-errors=-1"],
            forms: same("vp9parse ! video/x-vp9,alignment=super-frame ! ", [.mkv, .webm, .mp4]),
            // mp4mux 1.22 crashes if the caps lack fields that only an encoder provides.
            encodedOnly: [.mp4]),
        CodecRow(
            codec: .av1, mediaType: "video/x-av1", fields: ",stream-format=obu-stream,alignment=tu",
            decoders: ["av1dec max-errors=-1"],
            forms: same(
                "av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu ! ",
                [.mkv, .webm, .mp4])),
        CodecRow(
            codec: .mjpeg, mediaType: "image/jpeg",
            decoders: ["jpegdec max-errors=-1", "avdec_mjpeg max-threads=1 max-errors=-1"],
            forms: [.mkv: "", .mov: ""]),
        CodecRow(
            codec: .prores, mediaType: "video/x-prores",
            decoders: ["avdec_prores max-threads=1 max-errors=-1"], forms: [.mov: ""]),
        CodecRow(
            codec: .ffv1, mediaType: "video/x-ffv", fields: ",ffversion=1",
            decoders: ["avdec_ffv1 max-threads=1 max-errors=-1"],
            // The muxer requires this field under another name than the encoder's.
            forms: [.mkv: #"capssetter caps="video/x-ffv,ffversion=(int)1" ! video/x-ffv ! "#],
            encodedOnly: [.mkv]),
    ]

    /// - Parameter form: The stream format with the codec data in the caps.
    private static func networkUnits(
        _ codec: String, _ form: String
    ) -> [RecordingContainer: String] {
        func caps(_ form: String) -> String {
            "video/x-\(codec),stream-format=\(form),alignment=au ! "
        }
        var forms = same("\(codec)parse ! " + caps(form), [.mkv, .mp4, .mov])
        forms[.ts] = "\(codec)parse config-interval=-1 ! " + caps("byte-stream")
        return forms
    }

    /// Creates the codec of a media type.
    init(mediaType: String) {
        self = Self.tabled(mediaType) ?? Self(rawValue: mediaType)
    }

    /// Returns the caps of units whose bytes come from the program: always the same object for the
    /// latest forms.
    ///
    /// - Throws: ``PipelineError`` for a codec whose name is no media type.
    func caps(codecData: [UInt8]?, size: VideoSize?) throws(PipelineError) -> Caps {
        try Self.recent.value(
            for: UnitForm(
                codec: self, codecData: codecData, first: size?.width, second: size?.height))
    }

    private static let recent = RecentlyMade<UnitForm<VideoCodec>, Caps> {
        unit throws(PipelineError) in try unit.caps("width", "height")
    }
}

// MARK: - Sound

extension AudioCodec: TabledCodec {
    static let table = [
        CodecRow<AudioCodec>(
            codec: .opus, mediaType: "audio/x-opus", fields: ",channel-mapping-family=0",
            decoders: ["opusdec plc=true", "avdec_opus"],
            // mp4mux 1.22 and mpegtsmux do not write how many samples a decoder must skip.
            forms: [.mkv: "", .webm: "", .ogg: ""]),
        CodecRow(
            codec: .aac, mediaType: "audio/mpeg", fields: ",mpegversion=4,stream-format=adts",
            fieldsWithCodecData: ",mpegversion=4,stream-format=raw,framed=true",
            decoders: ["avdec_aac", "faad"],
            forms: [
                .mkv: "aacparse ! audio/mpeg,stream-format=raw ! ",
                .mp4: movieAAC, .mov: movieAAC,
                // matroskademux 1.22 doubles the sample rate, which aacparse corrects only in raw units.
                .ts: "aacparse ! audio/mpeg,stream-format=raw "
                    + "! aacparse name=\(Pad.adtsWriter) ! audio/mpeg,stream-format=adts ! ",
            ]),
        CodecRow(
            codec: .mp3, mediaType: "audio/mpeg", fields: ",mpegversion=1,layer=3",
            decoders: ["mpg123audiodec", "avdec_mp3"],
            // MPEG audio in a transport stream is read back as AAC.
            forms: same("mpegaudioparse ! audio/mpeg,mpegversion=1 ! ", [.mkv, .mp4, .mov])),
        CodecRow(
            codec: .flac, mediaType: "audio/x-flac",
            // A unit is a frame, even if its caps do not say so.
            decoders: [#"capssetter caps="audio/x-flac,framed=true" ! flacdec"#, "avdec_flac"],
            forms: same("flacparse ! audio/x-flac ! ", [.mkv, .flac])),
        CodecRow(
            codec: .pcm, mediaType: "audio/x-raw", decoders: [],
            forms: [
                .wav: samples("S16LE,U8,S24LE,S32LE,F32LE,F64LE"),
                .mkv: samples("S16LE,U8,S24LE,S32LE,F32LE,F64LE"),
                // Larger samples are big-endian in QuickTime. qtmux takes more than two channels only without
                // positions.
                .mov: samples("S16LE,S24BE,S32BE")
                    + #"capssetter caps="audio/x-raw,channel-mask=(bitmask)0x0" ! "#,
            ]),
        CodecRow(
            codec: .vorbis, mediaType: "audio/x-vorbis", decoders: ["vorbisdec"],
            forms: [.mkv: "", .webm: "", .ogg: ""]),
        CodecRow(
            codec: .ac3, mediaType: "audio/x-ac3", decoders: ["a52dec", "avdec_ac3"],
            forms: same("ac3parse ! audio/x-ac3 ! ", [.mkv, .ts])),
        CodecRow(
            codec: .mulaw, mediaType: "audio/x-mulaw", decoders: ["mulawdec"],
            forms: [.mkv: ""]),
        CodecRow(
            codec: .alaw, mediaType: "audio/x-alaw", decoders: ["alawdec"],
            forms: [.mkv: ""]),
    ]

    /// ADTS may announce MPEG-2 AAC, whose units are identical to those of MPEG-4.
    private static let movieAAC =
        "aacparse ! audio/mpeg,stream-format=raw ! capssetter caps=audio/mpeg,mpegversion=4 ! "

    private static func samples(_ formats: String) -> String {
        "audioconvert ! audio/x-raw,format={\(formats)},layout=interleaved ! "
    }

    /// Creates the codec that caps describe.
    init(_ caps: Caps) {
        let mediaType = caps.mediaType
        if mediaType == "audio/mpeg" {
            self = caps.isMPEG1Sound ? .mp3 : .aac
        } else {
            self = Self.tabled(mediaType) ?? Self(rawValue: mediaType)
        }
    }

    /// Returns the caps of units whose bytes come from the program: always the same object for the
    /// latest forms.
    ///
    /// - Throws: ``PipelineError`` for a codec whose name is no media type.
    func caps(
        codecData: [UInt8]?, sampleRate: Int?, channels: Int?
    ) throws(PipelineError) -> Caps {
        try Self.recent.value(
            for: UnitForm(
                codec: self, codecData: codecData, first: sampleRate, second: channels))
    }

    private static let recent = RecentlyMade<UnitForm<AudioCodec>, Caps> {
        unit throws(PipelineError) in try unit.caps("rate", "channels")
    }
}

// MARK: - Rows

private func same(
    _ elements: String, _ containers: [RecordingContainer]
) -> [RecordingContainer: String] {
    Dictionary(uniqueKeysWithValues: containers.map { ($0, elements) })
}

/// The form of units whose bytes come from the program. Compared for each unit, so it contains no
/// text that would have to be made first.
private struct UnitForm<Codec: TabledCodec>: Equatable, Sendable {
    let codec: Codec
    let codecData: [UInt8]?
    /// Width and height, or sample rate and channels, as far as they are known.
    let first, second: Int?

    /// - Parameter fields: The names of the two numbers.
    func caps(_ fields: String...) throws(PipelineError) -> Caps {
        let row = codec.row
        let own = codecData == nil ? nil : row?.fieldsWithCodecData
        var text = codec.mediaType + (own ?? row?.fields ?? "")
        for (field, number) in zip(fields, [first, second]) {
            if let number { text += ",\(field)=\(number)" }
        }
        if let codecData { text += ",codec_data=(buffer)\(Caps.hexadecimal(codecData))" }
        return try Caps(text)
    }
}
