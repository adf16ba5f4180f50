extension MediaEncoding {
    /// Returns the first encoder that works and is installed together with the elements of the container's form: of
    /// the requested codec, or of the container's codecs in their order.
    ///
    /// - Parameter broken: The factory names of encoders that failed while they encoded. Any other one of the codecs
    ///   may replace them, also one that the choice excludes.
    func encoder(
        for container: RecordingContainer, without broken: Set<String> = []
    ) throws(PipelineError) -> Codec.Encoder {
        if let bitRate, !bitRates.contains(bitRate) {
            throw PipelineError(
                .badValue, message: "a bit rate of \(bitRate) bit/s is out of range",
                advice: "\(bitRates.lowerBound) to \(bitRates.upperBound) bit/s")
        }
        if bitRate != nil, quality != nil {
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
        let known = (codec.map { [$0] } ?? codecs).flatMap(\.encoders)
        let wanted = "\(codec.map { "of \($0.rawValue) " } ?? "")for .\(container.rawValue)"
        guard known.contains(where: allows) else {
            throw PipelineError(
                .badValue, message: "no encoder \(wanted) is \(request ?? "known")",
                advice: codecs.flatMap(\.encoders).filter(allows)
                    .map { "\($0.factoryName) (\($0.codec.rawValue))" }.joined(separator: ", "))
        }
        let encoder = try Codec.Encoder.first(of: candidates(known, without: broken), wanted) {
            $0.codec.row?.elements(in: container) ?? []
        }
        guard bitRate == nil || encoder.hasBitRate else {
            throw PipelineError(
                .badValue,
                message: "\(encoder.codec.rawValue) by \(encoder.factoryName) has no bit rate",
                advice: "no bit rate, or another codec or file extension")
        }
        return encoder
    }

    /// Returns the encoders that the choice allows; after a failure the others too, those of the same codec first.
    private func candidates(
        _ known: [Codec.Encoder], without broken: Set<String>
    ) -> [Codec.Encoder] {
        let allowed = known.filter(allows)
        guard !broken.isEmpty else { return allowed }
        let codecs = Set(known.filter { broken.contains($0.factoryName) }.map(\.codec))
        let all = allowed + known.filter { !allows($0) }
        return
            (all.filter { codecs.contains($0.codec) } + all.filter { !codecs.contains($0.codec) })
            .filter { !broken.contains($0.factoryName) }
    }
}

/// The bit rates that may be requested, in bits per second.
private let bitRates = 1_000...2_000_000_000
