/// Which elements decode a codec.
struct DecoderRecipe {
    let codec: EncodedVideoFrame.Codec

    /// The name of the appsrc.
    static let sourceName = "units"

    /// The maximum number of units by which a picture may come out after its own unit. Only H.264
    /// reorders pictures, by at most the size of its decoded picture buffer.
    var reordering: Int { codec == .h264 ? 16 : 0 }

    /// Returns a capture string that begins with an appsrc for access units.
    func text(around decoder: String) -> String {
        "appsrc name=\(Self.sourceName) format=time caps=\"\(caps)\" ! \(decoder) "
            + "! appsink name=\(BridgedText.defaultBranch)"
    }

    private var caps: String {
        switch codec {
        case .h264: "video/x-h264, stream-format=byte-stream, alignment=au"
        case .vp8: "video/x-vp8"
        case .mjpeg: "image/jpeg"
        }
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
        case .vp8:
            [("vp8dec", "threads=1 max-errors=-1"), ("avdec_vp8", "max-threads=1 max-errors=-1")]
        case .mjpeg:
            [("jpegdec", "max-errors=-1"), ("avdec_mjpeg", "max-threads=1 max-errors=-1")]
        }
    }

    /// Returns an installed decoder with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed;
    ///   it names the Debian package of the preferred decoder.
    func decoder() throws(PipelineError) -> String {
        for choice in choices where try ElementFactory.find(choice.element) != nil {
            return "\(choice.element) \(choice.settings)"
        }
        try ElementFactory.require(choices[0].element)
        return choices[0].element
    }
}
