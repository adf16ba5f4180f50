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
