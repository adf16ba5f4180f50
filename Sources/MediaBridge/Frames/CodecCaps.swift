/// What differs between codecs of pictures, outside of recordings and RTP: a row for each codec.
struct VideoCodecRow: Sendable {
    let codec: VideoCodec
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
}

extension VideoCodec {
    /// The codec's row; `nil` for a codec that has only its media type as its name.
    var row: VideoCodecRow? { Self.rows[self] }

    private static let rows = Dictionary(uniqueKeysWithValues: table.map { ($0.codec, $0) })

    static let table = [
        VideoCodecRow(
            codec: .h264, mediaType: "video/x-h264",
            fields: ",stream-format=byte-stream,alignment=au",
            fieldsWithCodecData: ",stream-format=avc,alignment=au", reordering: 16,
            // In strict mode libav delays sixteen pictures if the stream does not declare its reordering.
            decoders: [
                "avdec_h264 max-threads=1 std-compliance=normal max-errors=-1",
                "openh264dec max-errors=-1",
            ]),
        VideoCodecRow(
            codec: .h265, mediaType: "video/x-h265",
            fields: ",stream-format=byte-stream,alignment=au",
            fieldsWithCodecData: ",stream-format=hvc1,alignment=au", reordering: 16,
            decoders: [
                "avdec_h265 max-threads=1 std-compliance=normal max-errors=-1",
                "libde265dec max-errors=-1",
            ]),
        VideoCodecRow(
            codec: .vp8, mediaType: "video/x-vp8",
            decoders: ["vp8dec threads=1 max-errors=-1", "avdec_vp8 max-threads=1 max-errors=-1"]),
        VideoCodecRow(
            codec: .vp9, mediaType: "video/x-vp9", fields: ",alignment=super-frame",
            decoders: ["vp9dec threads=1 max-errors=-1", "avdec_vp9 max-threads=1 max-errors=-1"]),
        VideoCodecRow(
            codec: .av1, mediaType: "video/x-av1", fields: ",stream-format=obu-stream,alignment=tu",
            decoders: ["av1dec max-errors=-1"]),
        VideoCodecRow(
            codec: .mjpeg, mediaType: "image/jpeg",
            decoders: ["jpegdec max-errors=-1", "avdec_mjpeg max-threads=1 max-errors=-1"]),
        VideoCodecRow(
            codec: .ffv1, mediaType: "video/x-ffv", fields: ",ffversion=1",
            decoders: ["avdec_ffv1 max-threads=1 max-errors=-1"]),
    ]

    /// The media type in GStreamer's caps.
    var mediaType: String { row?.mediaType ?? rawValue }

    /// Creates the codec of a media type.
    init(mediaType: String) {
        let known = Self.table.first { $0.mediaType == mediaType }
        self = known?.codec ?? Self(rawValue: mediaType)
    }

    private struct Form: Equatable, Sendable {
        let codec: VideoCodec
        let codecData: [UInt8]?
        let size: VideoSize?
    }

    private static let recent = RecentlyMade<Form, Caps> { form throws(PipelineError) in
        let row = form.codec.row
        let ownFields = form.codecData == nil ? nil : row?.fieldsWithCodecData
        let fields = ownFields ?? row?.fields ?? ""
        let data = form.codecData.map { ",codec_data=(buffer)\(Caps.hexadecimal($0))" }
        let size = form.size.map { ",width=\($0.width),height=\($0.height)" }
        return try Caps(form.codec.mediaType + fields + (data ?? "") + (size ?? ""))
    }

    /// Returns the caps of units whose bytes come from the program: always the same object for the
    /// latest forms.
    ///
    /// - Throws: ``PipelineError`` for a codec whose name is no media type.
    func caps(codecData: [UInt8]?, size: VideoSize?) throws(PipelineError) -> Caps {
        try Self.recent.value(for: Form(codec: self, codecData: codecData, size: size))
    }
}

// MARK: Audio

extension AudioCodec {
    private static let mediaTypes: [Self: String] = [
        .opus: "audio/x-opus", .flac: "audio/x-flac", .vorbis: "audio/x-vorbis",
        .ac3: "audio/x-ac3", .alaw: "audio/x-alaw", .mulaw: "audio/x-mulaw",
    ]

    /// Creates the codec that caps describe.
    init(_ caps: Caps) {
        let mediaType = caps.mediaType
        guard mediaType != "audio/mpeg" else {
            self = caps.isMPEG1Sound ? .mp3 : .aac
            return
        }
        self = Self.mediaTypes.first { $0.value == mediaType }?.key ?? Self(rawValue: mediaType)
    }

    private struct Form: Equatable, Sendable {
        let codec: AudioCodec
        let codecData: [UInt8]?
        let sampleRate: Int?
        let channelCount: Int?
    }

    private static let recent = RecentlyMade<Form, Caps> { form throws(PipelineError) in
        var text =
            switch form.codec {
            case .opus: "audio/x-opus,channel-mapping-family=0"
            case .mp3: "audio/mpeg,mpegversion=1,layer=3"
            case .aac:
                "audio/mpeg,mpegversion=4,stream-format="
                    + (form.codecData == nil ? "adts" : "raw,framed=true")
            default: mediaTypes[form.codec] ?? form.codec.rawValue
            }
        if let rate = form.sampleRate { text += ",rate=\(rate)" }
        if let channels = form.channelCount { text += ",channels=\(channels)" }
        if let data = form.codecData { text += ",codec_data=(buffer)\(Caps.hexadecimal(data))" }
        return try Caps(text)
    }

    /// Returns the caps of units whose bytes come from the program: always the same object for the
    /// latest forms.
    ///
    /// - Throws: ``PipelineError`` for a codec whose name is no media type.
    func caps(
        codecData: [UInt8]?, sampleRate: Int?, channelCount: Int?
    ) throws(PipelineError) -> Caps {
        try Self.recent.value(
            for: Form(
                codec: self, codecData: codecData, sampleRate: sampleRate,
                channelCount: channelCount))
    }
}
