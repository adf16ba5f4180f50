internal import Synchronization

/// Decodes audio with GStreamer's own elements, on the caller's thread.
final class ChainAudioDecoder: AudioDecoder {
    private struct State {
        var chain: ElementChain
        /// When the samples after the last unit are due.
        var next: MediaTime?
        var layout: AudioFrameLayout?
        var concealed = 0
    }
    private let state: Mutex<State>
    private let codec: AudioCodec
    private let elements: String
    /// The longest gap that a decoder fills: what it makes up fades to silence.
    private static let longestGap = MediaTime(nanoseconds: 120_000_000)

    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    init(_ codec: AudioCodec) throws(PipelineError) {
        self.codec = codec
        elements = try AudioCodecElements.decoder(of: codec)
        state = Mutex(State(chain: try ElementChain(elements)))
    }

    var concealedSamples: Int { state.withLock { $0.concealed } }

    func decode(_ unit: EncodedAudioFrame) throws -> [AudioFrame] {
        guard unit.codec == codec else {
            throw FrameError(
                .badFormat, "the decoder for \(codec) received a frame in \(unit.codec)")
        }
        let sample = try unit.sample()
        let time = unit.runningTime
        let stamp = time.flatMap { ClockTime($0) }
        return try state.withLock { state in
            var buffer = sample.buffer.retained().withOwnHeader()
            buffer.presentationTime = stamp
            buffer.decodingTime = nil
            let gap = gap(before: time, state.next)
            do throws(PipelineError) {
                let output = try state.chain.processAll(buffer, caps: sample.caps, after: gap)
                let frames = output.compactMap { frame($0, unit, &state) }
                if let last = frames.last, let begin = last.runningTime {
                    state.next = begin + last.format.duration(samples: last.sampleCount)
                }
                return frames
            } catch {
                // An element that failed once takes nothing more.
                state.chain = try ElementChain(elements)
                state.next = nil
                throw error
            }
        }
    }

    private func gap(
        before time: MediaTime?, _ next: MediaTime?
    ) -> (time: ClockTime, duration: ClockTime)? {
        guard codec == .opus, let time, let next, time > next, time - next <= Self.longestGap,
            // Less than the shortest packet is not one that is missing.
            time - next >= MediaTime(nanoseconds: 2_500_000),
            let begin = ClockTime(next), let duration = ClockTime(time - next)
        else { return nil }
        return (begin, duration)
    }

    private func frame(
        _ output: ElementChain.HeldBuffer, _ unit: EncodedAudioFrame, _ state: inout State
    ) -> AudioFrame? {
        if state.layout?.info.caps.identity != output.caps.identity {
            state.layout = AudioInfo(output.caps).flatMap { AudioFrameLayout($0) }
        }
        guard let layout = state.layout else { return nil }
        let time = output.buffer.presentationTime.map { MediaTime($0) }
        let frame = AudioFrame(
            BufferAudioStorage(output.buffer.retained(), layout), runningTime: time,
            liveTiming: unit.liveTiming)
        if let time, let due = unit.runningTime, time < due { state.concealed += frame.sampleCount }
        return frame.sampleCount > 0 ? frame : nil
    }
}

/// Encodes audio with GStreamer's own elements, on the caller's thread.
///
/// GstAudioEncoder (GStreamer 1.22, property `tolerance`) counts samples and takes gaps of up to 40 ms for
/// jitter: what follows a frame that is missing would be sent too early. So it gets samples without gaps.
final class ChainAudioEncoder: AudioEncoder {
    private struct State {
        var continuity = AudioContinuity()
        /// Of the last frame.
        var live: LiveTiming?
    }
    private let chain: ElementChain
    private let settings: AudioEncoderSettings
    private let state = Mutex(State())

    /// - Throws: ``PipelineError`` if the encoder is not installed or not known.
    init(_ settings: AudioEncoderSettings) throws(PipelineError) {
        self.settings = settings
        chain = try ElementChain(AudioCodecElements.encoder(settings))
    }

    func encode(_ frame: AudioFrame) throws -> [EncodedAudioFrame] {
        guard frame.runningTime != nil else {
            throw FrameError(.badFormat, "audio without a timestamp cannot be encoded")
        }
        let frames = state.withLock { state in
            state.live = frame.liveTiming
            let result = state.continuity.feed(frame)
            guard case .restarted = result.correction else { return result.frames }
            state.continuity.reset()
            return state.continuity.feed(frame).frames
        }
        return try frames.flatMap { try encodeNext($0) }
    }

    private func encodeNext(_ frame: AudioFrame) throws -> [EncodedAudioFrame] {
        guard let time = frame.runningTime.flatMap({ ClockTime($0) }) else {
            throw FrameError(.badFormat, "audio with a negative timestamp cannot be encoded")
        }
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        var buffer = wrapped.buffer.retained().withOwnHeader()
        buffer.presentationTime = time
        buffer.duration = nil
        return try chain.processAll(buffer, caps: caps, after: nil).compactMap(unit)
    }

    func finish() throws -> [EncodedAudioFrame] { chain.finish().compactMap(unit) }

    func setBitRate(_ bitRate: Int) {
        var settings = self.settings
        settings.bitRate = bitRate
        guard let value = AudioCodecElements.bitRate(settings) else { return }
        chain.set("bitrate", "\(value)", of: AudioCodecElements.encoderName)
    }

    func expectLoss(of share: Double) {
        guard settings.codec == .opus else { return }
        chain.set(
            "packet-loss-percentage", "\(Int((share * 100).rounded(.up)))",
            of: AudioCodecElements.encoderName)
        chain.set("inband-fec", share > 0 ? "true" : "false", of: AudioCodecElements.encoderName)
    }

    /// Returns `nil` for a header.
    private func unit(_ output: ElementChain.HeldBuffer) -> EncodedAudioFrame? {
        guard let time = output.buffer.presentationTime else { return nil }
        return EncodedAudioFrame(
            MediaSample(
                output.buffer.retained(), caps: output.caps, runningTime: MediaTime(time),
                liveTiming: state.withLock { $0.live }))
    }
}

// MARK: Elements

/// The elements that encode and decode units of audio in an element chain.
enum AudioCodecElements {
    /// Decoders with their settings, the preferred one first.
    private static let decoders: [AudioCodec: [String]] = [
        .opus: ["opusdec plc=true", "avdec_opus"],
        .aac: ["avdec_aac", "faad"],
        .mp3: ["mpg123audiodec", "avdec_mp3"],
        // A unit is a frame, even if its caps do not say so.
        .flac: [#"capssetter caps="audio/x-flac,framed=true" ! flacdec"#, "avdec_flac"],
        .vorbis: ["vorbisdec"],
        .ac3: ["a52dec", "avdec_ac3"],
        .alaw: ["alawdec"],
        .mulaw: ["mulawdec"],
    ]

    /// The element, and the samples that it takes. Opus has one stream of two channels at most.
    private static let encoders: [(codec: AudioCodec, element: String, input: String)] = [
        (.opus, "opusenc", "rate=48000,channels=[1,2]"),
        (.mulaw, "mulawenc", "rate=8000,channels=1"),
        (.alaw, "alawenc", "rate=8000,channels=1"),
    ]

    /// The codecs for which an encoder is installed, the preferred one first.
    static var encodableCodecs: [AudioCodec] {
        encoders.filter { (try? ElementFactory.find($0.element)) ?? nil != nil }.map(\.codec)
    }

    /// Returns the installed decoder of a codec, with its settings.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if none is installed; with
    ///   ``PipelineError/Code/badValue`` for a codec that is not known.
    static func decoder(of codec: AudioCodec) throws(PipelineError) -> String {
        try DecoderRecipe.installed(decoders[codec] ?? [], for: "\(codec)")
    }

    /// The name of the encoder in its chain.
    static let encoderName = "encoder"

    /// Returns a chain that encodes samples of any format.
    ///
    /// - Throws: As for ``decoder(of:)``.
    static func encoder(_ settings: AudioEncoderSettings) throws(PipelineError) -> String {
        guard let choice = encoders.first(where: { $0.codec == settings.codec }) else {
            throw PipelineError(
                .badValue, message: "no encoder is known for live streams in \(settings.codec)",
                advice: encoders.map { "\($0.codec)" }.joined(separator: " or "))
        }
        try ElementFactory.require(choice.element)
        var text =
            "audioconvert ! audioresample ! audio/x-raw,\(choice.input) ! "
            + "\(choice.element) name=\(encoderName)"
        if let bitRate = bitRate(settings) { text += " bitrate=\(bitRate)" }
        return text
    }

    /// The bit rate as the encoder takes it; `nil` for a codec with a fixed one.
    static func bitRate(_ settings: AudioEncoderSettings) -> Int? {
        settings.codec == .opus ? min(max(6000, settings.bitRate), 510_000) : nil
    }
}
