extension EncodedVideoFrame.Codec {
    private static let mediaTypes: [Self: String] = [
        .h264: "video/x-h264", .h265: "video/x-h265", .vp8: "video/x-vp8", .vp9: "video/x-vp9",
        .av1: "video/x-av1", .mjpeg: "image/jpeg",
    ]

    /// The media type in GStreamer's caps.
    var mediaType: String { Self.mediaTypes[self] ?? rawValue }

    /// Creates the codec of a media type.
    init(mediaType: String) {
        self = Self.mediaTypes.first { $0.value == mediaType }?.key ?? Self(rawValue: mediaType)
    }

    private struct Form: Equatable, Sendable {
        let codec: EncodedVideoFrame.Codec
        let codecData: [UInt8]?
        let size: VideoSize?
    }

    private static let recent = RecentlyMade<Form, Caps> { form throws(PipelineError) in
        let isByteStream = form.codecData == nil
        let fields =
            switch form.codec {
            case .h264: ",stream-format=\(isByteStream ? "byte-stream" : "avc"),alignment=au"
            case .h265: ",stream-format=\(isByteStream ? "byte-stream" : "hvc1"),alignment=au"
            case .vp9: ",alignment=super-frame"
            case .av1: ",stream-format=obu-stream,alignment=tu"
            default: ""
            }
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
