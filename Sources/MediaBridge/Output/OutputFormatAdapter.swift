internal import Synchronization

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
        /// Unchanged; the output gets these caps, none if they are ANY.
        case untouched(as: Caps)
        /// Unchanged, with the caps that the output was given first.
        case asFirst
        /// Through a converter, from these caps. If `isFixed`, to the caps that the output was
        /// given first.
        case converted(ElementChain, from: Caps, isFixed: Bool)
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
            return .untouched(as: source.acceptedCaps.flatMap { $0.isFixed ? $0 : nil } ?? .any)
        }
        // Checked even in front of a converter: it accepts any memory that it passes through, but
        // the element behind it may not.
        if let advice = caps.downloadAdvice, source.acceptedCaps(of: caps)?.isEmpty == true {
            throw unfit(caps, advice)
        }
        if let given, source.needsFixedFormat { return try fixed(caps, to: given) }
        guard !source.accepts(caps), let accepted = source.acceptedCaps, !accepted.isEmpty,
            // The element that refuses any other format reports why.
            let elements = ["video/x-raw": Self.video, "audio/x-raw": Self.audio][caps.mediaType]
        else { return .untouched(as: caps) }
        guard !accepted.intersection(try Caps(caps.mediaType)).isEmpty else {
            throw unfit(caps, accepted.uploadAdvice ?? "put an encoder or a converter before it")
        }
        return .converted(try ElementChain(elements, to: accepted), from: caps, isFixed: false)
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
            if isSameCodec, source.writesTransportStream { return .untouched(as: caps) }
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
        var input = have
        if want.interlaceMode != have.interlaceMode {
            // Fields keep their place in the frame, so only the mode is renamed. Fields that are
            // stored apart, in one buffer or in two, cannot be renamed.
            let modes: Set = [want.interlaceMode, have.interlaceMode]
            guard modes.isDisjoint(with: ["alternate", "fields"]),
                let renamed = VideoInfo(caps.interlaced(as: want.interlaceMode))
            else { throw changed(given, caps) }
            input = renamed
        }
        if input.hasSamePictures(as: want) { return .asFirst }
        let chain = try ElementChain(Self.video, to: pinned(want))
        return .converted(chain, from: input.caps, isFixed: true)
    }

    private func changed(_ given: Caps, _ caps: Caps) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the stream changed from \(given) to \(caps)",
            advice: "record each format to a separate file")
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

/// Decides whether buffers that an output refuses because of their format end the output.
///
/// If the first buffer of a stream is refused, the output cannot take the stream and ends. Later,
/// single refused buffers are dropped and counted; if all buffers are refused for one second of
/// running time, the stream has changed, and the output ends.
final class FormatRefusals: Sendable {
    private struct State {
        /// Running time of the first buffer in a row of refused ones.
        var since: MediaTime?
        var reason: PipelineError?
        var onEnd: (@Sendable (PipelineError) -> Void)?
    }
    private let state = Mutex(State())
    /// Whether the last buffer was refused; read for every buffer.
    private let isRow = Atomic<Bool>(false)

    private static let longestRow = MediaTime(nanoseconds: 1_000_000_000)

    /// Calls `body` once, when refused buffers end the output. Runs on the thread that writes the
    /// buffers.
    func onEnd(_ body: @escaping @Sendable (PipelineError) -> Void) {
        state.withLock { $0.onEnd = body }
    }

    /// Forgets the refusals of an earlier run.
    func reset() {
        isRow.store(false, ordering: .relaxed)
        state.withLock { ($0.since, $0.reason) = (nil, nil) }
    }

    /// Forgets a row of refused buffers, because a buffer was taken.
    func taken() {
        guard isRow.load(ordering: .relaxed), isRow.exchange(false, ordering: .relaxed) else {
            return
        }
        state.withLock { $0.since = nil }
    }

    /// Notes why a buffer was refused; only the first reason is kept.
    func note(_ error: PipelineError) {
        state.withLock { if $0.reason == nil { $0.reason = error } }
    }

    /// Why the first buffer was refused.
    var reason: PipelineError? { state.withLock { $0.reason } }

    /// Notes that a buffer was refused. Must not be called under a lock: the callback of
    /// ``onEnd(_:)`` closes the output.
    ///
    /// - Parameter isFirst: Whether no buffer was taken before.
    func refused(at time: MediaTime?, isFirst: Bool) {
        let reported = state.withLock {
            state -> (@Sendable (PipelineError) -> Void, PipelineError)? in
            let lasts = state.since.flatMap { since in time.map { $0 - since >= Self.longestRow } }
            if state.since == nil { state.since = time }
            guard isFirst || lasts == true, let reason = state.reason else { return nil }
            return state.onEnd.take().map { ($0, reason) }
        }
        isRow.store(true, ordering: .relaxed)
        if let (notify, reason) = reported { notify(reason) }
    }
}
