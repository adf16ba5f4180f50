/// The elements that encode and decode units of audio in an element chain.
enum AudioCodecElements {
    private struct Decoder {
        let element: String
        /// The element with its settings, preceded by the elements that it needs.
        let text: String

        init(_ element: String, before: String = "", settings: String = "") {
            self.element = element
            text = "\(before) \(element) \(settings)"
        }
    }
    private static let decoders: [AudioCodec: [Decoder]] = [
        .opus: [Decoder("opusdec", settings: "plc=true"), Decoder("avdec_opus")],
        .aac: [Decoder("avdec_aac"), Decoder("faad")],
        .mp3: [Decoder("mpg123audiodec"), Decoder("avdec_mp3")],
        // A unit is a frame, even if its caps do not say so.
        .flac: [
            Decoder("flacdec", before: #"capssetter caps="audio/x-flac,framed=true" !"#),
            Decoder("avdec_flac"),
        ],
        .vorbis: [Decoder("vorbisdec")],
        .ac3: [Decoder("a52dec"), Decoder("avdec_ac3")],
        .alaw: [Decoder("alawdec")],
        .mulaw: [Decoder("mulawdec")],
    ]
    /// The element, and the samples that it takes. Opus has one stream of two channels at most.
    private static let encoders: [(codec: AudioCodec, element: String, input: String)] = [
        (.opus, "opusenc", "rate=48000,channels=[1,2]"),
        (.mulaw, "mulawenc", "rate=8000,channels=1"),
        (.alaw, "alawenc", "rate=8000,channels=1"),
    ]

    /// The codecs for which an encoder is installed, the preferred one first.
    static var encodableCodecs: [AudioCodec] {
        encoders.filter { (try? ElementFactory.find($0.element)) ?? nil != nil }.map(\.codec)
    }

    /// Returns the installed decoder of a codec, with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed; with
    ///   ``PipelineError/Code/badValue`` for a codec that is not known.
    static func decoder(of codec: AudioCodec) throws(PipelineError) -> String {
        let choices = decoders[codec] ?? []
        for choice in choices where try ElementFactory.find(choice.element) != nil {
            return choice.text
        }
        guard let preferred = choices.first else {
            throw PipelineError(
                .badValue, message: "no decoder is known for \(codec)",
                advice: "put decodebin at the end of the capture")
        }
        try ElementFactory.require(preferred.element)
        return preferred.text
    }

    /// The name of the encoder in its chain.
    static let encoderName = "encoder"

    /// Returns a chain that encodes samples of any format.
    ///
    /// - Throws: As for ``decoder(of:)``.
    static func encoder(_ settings: AudioEncoderSettings) throws(PipelineError) -> String {
        guard let choice = encoders.first(where: { $0.codec == settings.codec }) else {
            throw PipelineError(
                .badValue, message: "no encoder is known for live streams in \(settings.codec)",
                advice: encoders.map { "\($0.codec)" }.joined(separator: " or "))
        }
        try ElementFactory.require(choice.element)
        var text =
            "audioconvert ! audioresample ! audio/x-raw,\(choice.input) ! "
            + "\(choice.element) name=\(encoderName)"
        if let bitRate = bitRate(settings) { text += " bitrate=\(bitRate)" }
        return text
    }

    /// The bit rate as the encoder takes it; `nil` for a codec with a fixed one.
    static func bitRate(_ settings: AudioEncoderSettings) -> Int? {
        settings.codec == .opus ? min(max(6000, settings.bitRate), 510_000) : nil
    }
}
