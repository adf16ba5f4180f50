/// Converts incoming buffers to a format that the output takes.
///
/// A stream that the output takes passes unchanged; any other goes through GStreamer's converters.
/// If an output encodes or muxes, its format stays what it was at the beginning, because encoders
/// and muxers do not support a change (mp4 is damaged without an error, mkv fails). Frames of
/// another size, format or colorimetry are converted to those of the first frame, with borders if
/// the shape differs, and audio is resampled. If only the frame rate changes, only the times of the
/// frames change, and the output's caps stay the same.
struct OutputFormatAdapter: Sendable {
    let source: AppSource

    /// How buffers are passed to an output.
    enum Passage {
        /// Unchanged; the output gets their caps.
        case untouched
        /// Unchanged, with the caps that the output was given first.
        case asFirst
        /// Through a converter, from these caps. If `isFixed`, to the caps that the output was
        /// given first.
        case converted(ElementChain, from: Caps, isFixed: Bool)
        /// Unchanged, as bytes; the output gets these caps, none if they are ANY.
        case bytes(as: Caps)
    }

    /// Returns how buffers with `caps` have to be passed to the output.
    ///
    /// - Parameter given: Caps that the output has been given so far; `nil` at the beginning.
    /// - Throws: ``PipelineError`` if no converter helps.
    func passage(of caps: Caps, given: Caps?) throws(PipelineError) -> Passage {
        if caps.isAny {
            if let given { throw changed(given, caps) }
            guard source.takesBytes else {
                throw unfit(
                    caps,
                    "put a parser such as rawvideoparse or rawaudioparse, a demuxer or decodebin "
                        + "before it")
            }
            return .bytes(as: source.acceptedCaps.flatMap { $0.isFixed ? $0 : nil } ?? .any)
        }
        // Checked even in front of a converter: it accepts any memory that it passes through, but
        // the element behind it may not.
        if let advice = caps.downloadAdvice, source.acceptedCaps(of: caps)?.isEmpty == true {
            throw unfit(caps, advice)
        }
        if let given, source.needsFixedFormat { return try fixed(caps, to: given) }
        guard !source.accepts(caps), let accepted = source.acceptedCaps, !accepted.isEmpty else {
            return .untouched
        }
        switch caps.mediaType {
        case "video/x-raw":
            return .converted(
                try converter(Self.video, caps, to: accepted), from: caps, isFixed: false)
        case "audio/x-raw":
            return .converted(
                try converter(Self.audio, caps, to: accepted), from: caps, isFixed: false)
        default: return .untouched  // the element that refuses them reports why
        }
    }

    /// Returns the passage for encoders and muxers, which keep the format of the first buffer.
    private func fixed(_ caps: Caps, to given: Caps) throws(PipelineError) -> Passage {
        if let want = AudioInfo(given), let have = AudioInfo(caps) {
            if AudioFormat(want) == AudioFormat(have) { return .asFirst }
            return .converted(
                try ElementChain(Self.audio, to: want.caps), from: caps, isFixed: true)
        }
        guard let want = VideoInfo(given), let have = VideoInfo(caps) else {
            if given.isSameStream(as: caps) { return .asFirst }
            // A transport stream has no header: what decoders need is in the stream itself.
            let isSameCodec = given.mediaType == caps.mediaType
            if isSameCodec, source.writesTransportStream { return .untouched }
            throw changed(given, caps)
        }
        if have.frameRateText != want.frameRateText, let counter = source.pictureCounter {
            throw PipelineError(
                .streamFailed, element: counter.path,
                message: "\"\(counter.factoryName)\" counts frames, and accepts only its first "
                    + "frame rate: \(want.frameRateText), then \(have.frameRateText)",
                advice: "set one frame rate before it: videorate ! "
                    + "video/x-raw,framerate=\(want.frameRateText)")
        }
        let mode = want.interlaceMode
        guard mode != have.interlaceMode else {
            return have.hasSamePictures(as: want)
                ? .asFirst
                : .converted(
                    try ElementChain(Self.video, to: pinned(want)), from: caps, isFixed: true)
        }
        // Fields keep their place in the frame, so only the mode is renamed. Fields that are
        // stored apart, in one buffer or in two, cannot be renamed.
        let separate: Set = ["alternate", "fields"]
        guard !separate.contains(mode), !separate.contains(have.interlaceMode) else {
            throw changed(given, caps)
        }
        let renamed = caps.interlaced(as: mode)
        guard let info = VideoInfo(renamed) else { throw changed(given, caps) }
        return info.hasSamePictures(as: want)
            ? .asFirst
            : .converted(
                try ElementChain(Self.video, to: pinned(want)), from: renamed, isFixed: true)
    }

    private func changed(_ given: Caps, _ caps: Caps) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the stream changed from \(given) to \(caps)",
            advice: "record each format to a separate file")
    }

    private func converter(
        _ text: String, _ caps: Caps, to accepted: Caps
    ) throws(PipelineError) -> ElementChain {
        let raw = try Caps(caps.mediaType)
        guard accepted.intersection(raw).isEmpty else {
            return try ElementChain(text, to: accepted)
        }
        throw unfit(caps, accepted.uploadAdvice ?? "put an encoder or a converter before it")
    }

    private func unfit(_ caps: Caps, _ advice: String) -> PipelineError {
        let receiver = source.receiver
        let memory = caps.deviceMemory.map { "(memory:\($0))" } ?? ""
        let kind = caps.isAny ? "bytes without caps" : "\(caps.mediaType)\(memory)"
        return PipelineError(
            .linkFailed, element: receiver?.path,
            message: "\"\(receiver?.factoryName ?? "the output")\" does not accept \(kind), "
                + "which the capture produces",
            advice: advice)
    }

    private static let video = "videoconvert ! videoscale add-borders=true"
    private static let audio = "audioconvert ! audioresample"

    private func pinned(_ info: VideoInfo) throws(PipelineError) -> Caps {
        let ratio = info.pixelAspectRatio
        let colour = info.colorimetry.map { ", colorimetry=(string)\"\($0)\"" } ?? ""
        let site = info.chromaSite.map { ", chroma-site=(string)\"\($0)\"" } ?? ""
        return try Caps(
            "video/x-raw, format=\(info.format), width=\(info.width), height=\(info.height), "
                + "pixel-aspect-ratio=\(ratio.numerator)/\(ratio.denominator)\(colour)\(site)")
    }
}

extension VideoInfo {
    fileprivate var frameRateText: String {
        frameRate.map { "\($0.numerator)/\($0.denominator)" } ?? "0/1"
    }
}
