extension AppSink {
    /// The kind of element upstream of a sink that determines the format of its samples.
    package enum FormatOrigin: Sendable {
        /// A source, which produces the requested format.
        case source
        /// A converter, which converts its input to the requested format, with as few changes as
        /// possible.
        case converter
        /// A decoder, parser or mixer: the stream determines the format, even if the pads' caps allow others.
        case stream
    }

    /// The formats that every player and encoder accepts: 4:2:0 with 8 bits.
    package static var commonFormats: Caps? { try? Caps("video/x-raw,format={I420,NV12,YV12}") }

    /// Requests one of the ``commonFormats`` if the string leaves the choice to a source that supports them: the
    /// first format of videotestsrc has 64 bits per pixel. A format that a stream determines is kept. The devices
    /// must be open.
    package func preferCommonFormats() {
        guard let common = Self.commonFormats, canChoose(common) else { return }
        narrow(to: common)
    }

    /// Elements that forward a caps query upstream, or convert. Others may not (capssetter), or have further
    /// branches (tee).
    private static let transparent: Set = [
        "capsfilter", "queue", "identity", "videoconvert", "videoscale", "videoconvertscale",
        "videorate",
        "videocrop", "videoflip", "timeoverlay", "clockoverlay", "textoverlay", "videobalance",
    ]

    /// Whether a source upstream can produce one of these formats, as far as its devices and the elements
    /// downstream of it allow.
    package func canChoose(_ formats: Caps) -> Bool {
        var pad = element.pad("sink")
        for _ in 0..<256 {
            guard let offered = pad?.peerCaps, !offered.isAny,
                !offered.intersection(formats).isEmpty, let upstream = pad?.peer?.element
            else { return false }
            if upstream.klass.contains("Source") { return true }
            guard Self.transparent.contains(upstream.factoryName), let sink = upstream.mainSinkPad
            else { return false }
            pad = sink
        }
        return false
    }

    /// Determined by walking upstream through elements that do not change the format.
    package var formatOrigin: FormatOrigin {
        var pad = element.pad("sink")?.peer
        for _ in 0..<256 {
            guard let element = pad?.element else { return .stream }
            let klass = element.klass
            if klass.contains("Source") { return .source }
            if klass.contains("Colorspace") || element.factoryName == "audioconvert" {
                return .converter
            }
            guard !klass.contains("Codec"), !klass.contains("Bin"),
                let sink = element.mainSinkPad
            else { return .stream }
            pad = sink.peer
        }
        return .stream
    }
}
