/// Makes what comes in one that the output takes.
///
/// A stream that the output takes as it is passes untouched; one that it does not take goes through
/// GStreamer's converters first. And where an output encodes or muxes, it stays what it was at the
/// beginning: encoders and muxers do not take a change (mp4 is damaged without a word, mkv fails), so
/// pictures of another size or format are scaled to the first ones', with borders where the shape
/// differs, and sound is resampled.
struct Fitting: Sendable {
    let source: AppSource

    /// The converter that buffers with `caps` need; `nil` where they need none.
    ///
    /// - Parameter given: What the output has been given so far; `nil` at the beginning.
    /// - Throws: ``PipelineError`` where no converter helps.
    func converter(for caps: Caps, given: Caps?) throws(PipelineError) -> ElementChain? {
        if let given, source.needsFixedFormat {
            if let want = AudioInfo(given), let have = AudioInfo(caps) {
                let isSame = AudioFormat(want) == AudioFormat(have)
                return isSame ? nil : try ElementChain(Self.audio, to: want.caps)
            }
            guard let want = VideoInfo(given), let have = VideoInfo(caps) else {
                if given.mediaType == caps.mediaType { return nil }
                throw PipelineError(
                    .streamFailed, message: "the stream changed from \(given) to \(caps)",
                    advice: "record each into a file of its own")
            }
            let isSame =
                want.format == have.format && want.width == have.width
                && want.height == have.height && want.pixelAspectRatio == have.pixelAspectRatio
            return isSame ? nil : try ElementChain(Self.video, to: pinned(want))
        }
        guard !source.accepts(caps), let accepted = source.acceptedCaps, !accepted.isEmpty else {
            return nil
        }
        switch caps.mediaType {
        case "video/x-raw": return try converter(Self.video, caps, to: accepted)
        case "audio/x-raw": return try converter(Self.audio, caps, to: accepted)
        default: return nil  // the element that refuses says why
        }
    }

    private func converter(
        _ text: String, _ caps: Caps, to accepted: Caps
    ) throws(PipelineError) -> ElementChain {
        let raw = try Caps(caps.mediaType)
        guard accepted.intersection(raw).isEmpty else {
            return try ElementChain(text, to: accepted)
        }
        let receiver = source.receiver
        throw PipelineError(
            .linkFailed, element: receiver?.path,
            message: "\"\(receiver?.factoryName ?? "the output")\" does not take "
                + "\(caps.mediaType), which the capture gives",
            advice: "an encoder or a converter in front of it")
    }

    private static let video = "videoconvert ! videoscale add-borders=true"
    private static let audio = "audioconvert ! audioresample"

    private func pinned(_ info: VideoInfo) throws(PipelineError) -> Caps {
        let ratio = info.pixelAspectRatio
        return try Caps(
            "video/x-raw, format=\(info.format), width=\(info.width), height=\(info.height), "
                + "pixel-aspect-ratio=\(ratio.numerator)/\(ratio.denominator)")
    }
}
