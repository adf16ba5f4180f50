internal import CMediaBridge

/// The bit rate of an encoder in a pipeline, which may change while it runs. Thread: any.
package struct EncoderBitRate: Sendable {
    private let element: Element
    private let property: String
    /// Bits per second in one unit of the property.
    private let unit: Int
    /// In bits per second, at the beginning.
    package let original: Int

    /// Properties by name, and encoders that take a change although their property does not say so.
    private static let properties = ["bitrate", "target-bitrate"]
    private static let changeable: Set = ["vp8enc", "vp9enc"]

    /// `nil` for an element without a bit rate that may change while it runs.
    fileprivate init?(_ element: Element) {
        let spec = element.specs.first { spec in
            g_param_spec_get_name(spec).map { Self.properties.contains(String(cString: $0)) }
                ?? false
        }
        guard let spec, let name = g_param_spec_get_name(spec),
            mb_spec_is_changeable(spec) != 0 || Self.changeable.contains(element.factoryName)
        else { return nil }
        // Only the property's description names the unit.
        let text = g_param_spec_get_blurb(spec).map { String(cString: $0).lowercased() } ?? ""
        let isKilo = ["kbit", "kbps", "kilobit"].contains { text.contains($0) }
        self.element = element
        property = String(cString: name)
        unit = isKilo ? 1000 : 1
        let value = max(element.uint(property), element.int(property) ?? 0)
        // Zero means that the encoder decides.
        guard value > 0 else { return nil }
        original = value * unit
    }

    /// Makes the encoder keep to a bit rate from its next picture on.
    ///
    /// - Parameter bitRate: In bits per second.
    package func set(_ bitRate: Int) { element.set(property, "\(max(1, bitRate / unit))") }
}

extension AppSink {
    /// The bit rate of the video encoder from which the sink's units come; `nil` if there is none, or
    /// none that may change while it runs. Found by walking upstream through parsers and queues.
    package var encoderBitRate: EncoderBitRate? {
        var pad = element.pad("sink")?.peer
        for _ in 0..<256 {
            guard let element = pad?.element else { return nil }
            if element.klass.contains("Encoder") {
                return element.klass.contains("Video") ? EncoderBitRate(element) : nil
            }
            guard !element.klass.contains("Bin"), !element.klass.contains("Decoder"),
                let sink = element.mainSinkPad
            else { return nil }
            pad = sink.peer
        }
        return nil
    }
}
