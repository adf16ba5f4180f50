/// Which elements decode a codec.
struct DecoderRecipe {
    let codec: VideoCodec

    /// The media types of the codecs that have a decoder here.
    static let mediaTypes = VideoCodec.table.map(\.mediaType)

    /// The name of the appsrc.
    static let sourceName = "units"

    /// Returns a capture string that begins with an appsrc for access units.
    func text(around decoder: String) -> String {
        "appsrc name=\(Self.sourceName) format=time ! \(decoder) "
            + "! appsink name=\(BridgedText.defaultBranch)"
    }

    /// Returns an installed decoder with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed;
    ///   it names the Debian package of the preferred decoder. With
    ///   ``PipelineError/Code/badValue`` for a codec without a recipe.
    func decoder() throws(PipelineError) -> String {
        let choices = codec.row?.decoders ?? []
        for choice in choices where try ElementFactory.find(choice.element) != nil {
            return "\(choice.element) \(choice.settings)"
        }
        guard let preferred = choices.first else {
            throw PipelineError(
                .badValue, message: "no decoder is known for \(codec)",
                advice: "put decodebin at the end of the capture")
        }
        try ElementFactory.require(preferred.element)
        return preferred.element
    }
}
