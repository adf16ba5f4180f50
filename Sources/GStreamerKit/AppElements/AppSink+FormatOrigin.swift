extension AppSink {
    /// Who in front of a sink decides on the format that comes.
    public enum FormatOrigin: Sendable {
        /// A source, which makes what is wanted of it.
        case source
        /// A converter, which turns what it gets into what is wanted, and changes as little as it can.
        case converter
        /// A decoder, a parser, a mixer: the stream itself decides, whatever their pads could give.
        case stream
    }

    /// Found by walking up through elements that pass a format on.
    public var formatOrigin: FormatOrigin {
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
