extension VideoCodec {
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
        let fields = (form.codecData == nil ? row?.fields : row?.fieldsWithCodecData) ?? ""
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
