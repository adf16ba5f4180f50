/// Which elements decode a codec.
struct DecoderRecipe {
    let codec: EncodedVideoFrame.Codec

    /// The appsrc's name.
    static let sourceName = "units"

    /// How many units later, at most, the picture of a unit comes. Only H.264 changes the order, by as
    /// many pictures as its buffer holds.
    var reordering: Int { codec == .h264 ? 16 : 0 }

    /// A capture string that takes units at its beginning.
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

    /// The best first. One thread, because more hold back as many pictures; and damaged units must never
    /// add up to an error.
    private var choices: [(element: String, settings: String)] {
        switch codec {
        case .h264:
            // Strict, libav holds back sixteen pictures of a stream that does not promise an order.
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

    /// A decoder with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement``, which names the Debian
    ///   package of the first choice, where none is installed.
    func decoder() throws(PipelineError) -> String {
        for choice in choices where try ElementFactory.find(choice.element) != nil {
            return "\(choice.element) \(choice.settings)"
        }
        try ElementFactory.require(choices[0].element)
        return choices[0].element
    }
}
