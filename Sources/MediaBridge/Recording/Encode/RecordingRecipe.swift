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
