extension MediaEncoding {
    /// Returns the first encoder that works and is installed together with the elements of the container's form: of
    /// the requested codec, or of the container's codecs in their order.
    ///
    /// - Parameter broken: The factory names of encoders that failed while they encoded. Any other one of the codecs
    ///   may replace them, also one that the choice excludes.
    func encoder(
        for container: RecordingContainer, without broken: Set<String> = []
    ) throws(PipelineError) -> (codec: Codec, encoder: Codec.Encoder) {
        if let bitRate, !bitRates.contains(bitRate) {
            throw PipelineError(
                .badValue, message: "a bit rate of \(bitRate) bit/s is out of range",
                advice: "\(bitRates.lowerBound) to \(bitRates.upperBound) bit/s")
        }
        if bitRate != nil, let video = self as? VideoEncoding, video.quality != nil {
            throw PipelineError(
                .badValue, message: "a bit rate and a quality exclude each other",
                advice: "one of them")
        }
        let codecs = Codec.encoded(in: container)
        if let codec, !codecs.contains(codec) {
            throw PipelineError(
                .badValue, message: "\(container.rawValue) cannot contain \(codec.rawValue)",
                advice: codecs.map(\.rawValue).joined(separator: ", ")
                    + ", or another file extension")
        }
        let known = (codec.map { [$0] } ?? codecs).flatMap { codec in
            codec.encoders.map { (codec: codec, encoder: $0) }
        }
        var choices = known.filter { allows($0.encoder) }
        if !broken.isEmpty {
            func isBroken(_ encoder: Codec.Encoder) -> Bool { broken.contains(encoder.factoryName) }
            // Those of the same codec first.
            let codecs = Set(known.filter { isBroken($0.encoder) }.map(\.codec))
            choices = (choices + known.filter { !allows($0.encoder) })
                .filter { !isBroken($0.encoder) }
            choices =
                choices.filter { codecs.contains($0.codec) }
                + choices.filter { !codecs.contains($0.codec) }
        }
        let wanted = codec.map { " of \($0.rawValue)" } ?? ""
        guard !choices.isEmpty else {
            throw PipelineError(
                .badValue,
                message:
                    "no encoder\(wanted) for .\(container.rawValue) is \(request ?? "known")",
                advice: codecs.flatMap { codec in
                    codec.encoders.filter(allows).map { "\($0.factoryName) (\(codec.rawValue))" }
                }.joined(separator: ", "))
        }
        func elements(
            _ choice: (codec: Codec, encoder: Codec.Encoder)
        ) -> [String] {
            [choice.encoder.factoryName] + (choice.codec.row?.elements(in: container) ?? [])
        }
        var (missing, refusals) = (Set<String>(), [String]())
        for choice in choices {
            var lacks: [String] = []
            for name in elements(choice) where try ElementFactory.find(name) == nil {
                lacks.append(name)
            }
            missing.formUnion(lacks)
            guard lacks.isEmpty else { continue }
            if let refusal = choice.encoder.refusal() {
                refusals.append("\(choice.encoder.factoryName): \(refusal)")
                continue
            }
            guard bitRate == nil || choice.encoder.hasBitRate else {
                throw PipelineError(
                    .badValue,
                    message:
                        "\(choice.codec.rawValue) by \(choice.encoder.factoryName) has no bit rate",
                    advice: "no bit rate, or another codec or file extension")
            }
            return choice
        }
        if refusals.isEmpty, choices.count == 1 || !choices[0].encoder.isHardware {
            for name in elements(choices[0]) { try ElementFactory.require(name) }
        }
        if !missing.isEmpty {
            refusals.append("\(missing.sorted().joined(separator: ", ")): not installed")
        }
        throw PipelineError(
            .missingElement,
            message: "no encoder\(wanted) for .\(container.rawValue) works here: "
                + refusals.joined(separator: "; "),
            advice: "gst-bridge doctor, which tries them")
    }
}

/// The bit rates that may be requested, in bits per second.
private let bitRates = 1_000...2_000_000_000
