extension AppSink {
    /// The kind of element upstream of a sink that determines the format of its samples.
    package enum FormatOrigin: Sendable {
        /// A source, which produces the requested format.
        case source
        /// A converter, which converts its input to the requested format, with as few changes as
        /// possible.
        case converter
        /// A decoder, parser or mixer: the stream determines the format, whatever the pads' caps
        /// allow.
        case stream
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
