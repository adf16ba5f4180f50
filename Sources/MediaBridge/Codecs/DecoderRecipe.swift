/// Which elements decode a codec.
struct DecoderRecipe {
    let codec: EncodedVideoFrame.Codec

    /// The media types of the codecs that have a decoder here.
    static let mediaTypes = [
        EncodedVideoFrame.Codec.h264, .h265, .vp8, .vp9, .av1, .mjpeg,
    ].map(\.mediaType)

    /// The name of the appsrc.
    static let sourceName = "units"

    /// The maximum number of units by which a picture may come out after its own unit. Only H.264
    /// and H.265 reorder pictures, by at most the size of their decoded picture buffer.
    var reordering: Int { codec == .h264 || codec == .h265 ? 16 : 0 }

    /// Returns a capture string that begins with an appsrc for access units.
    func text(around decoder: String) -> String {
        "appsrc name=\(Self.sourceName) format=time ! \(decoder) "
            + "! appsink name=\(BridgedText.defaultBranch)"
    }

    /// Decoders with their settings, the preferred one first. They use one thread: several threads
    /// delay the output by as many pictures. Damaged units must never accumulate to a pipeline
    /// error.
    private var choices: [(element: String, settings: String)] {
        switch codec {
        case .h264:
            // In strict mode libav delays sixteen pictures if the stream does not declare its
            // reordering.
            [
                ("avdec_h264", "max-threads=1 std-compliance=normal max-errors=-1"),
                ("openh264dec", "max-errors=-1"),
            ]
        case .h265:
            [
                ("avdec_h265", "max-threads=1 std-compliance=normal max-errors=-1"),
                ("libde265dec", "max-errors=-1"),
            ]
        case .vp8:
            [("vp8dec", "threads=1 max-errors=-1"), ("avdec_vp8", "max-threads=1 max-errors=-1")]
        case .vp9:
            [("vp9dec", "threads=1 max-errors=-1"), ("avdec_vp9", "max-threads=1 max-errors=-1")]
        case .av1: [("av1dec", "max-errors=-1")]
        case .mjpeg:
            [("jpegdec", "max-errors=-1"), ("avdec_mjpeg", "max-threads=1 max-errors=-1")]
        default: []
        }
    }

    /// Returns an installed decoder with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed;
    ///   it names the Debian package of the preferred decoder. With
    ///   ``PipelineError/Code/badValue`` for a codec without a recipe.
    func decoder() throws(PipelineError) -> String {
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
