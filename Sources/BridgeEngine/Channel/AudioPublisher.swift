internal import MediaCore
internal import Synchronization

/// Sends the audio track's output to the channel, unchanged or encoded.
final class AudioPublisher: Sendable {
    private struct State {
        var configuration: AudioEncoderConfiguration
        var encoder: (any AudioEncoder)?
        var settings: AudioEncoderSettings?
        /// The expected loss that was last set on the encoder, in percent.
        var expectedLoss = 0
        /// No encoder could be created, or encoding failed: not retried before a new configuration.
        var hasGivenUp = false
        var isMuted = false
        var isOver = false
    }
    private let state: Mutex<State>
    private let stream: AudioStream
    private let publication: any ChannelPublication
    private let backend: any MediaBackend
    private let meter: FlowMeter<AudioMedia>
    private let onFailure: @Sendable (any Error) -> Void
    private let tap = Mutex<Int?>(nil)

    /// Starts to send the frames of `stream`.
    ///
    /// - Parameters:
    ///   - meter: Counts the frames. An encoded frame is delivered once its units are sent.
    ///   - onFailure: Called if no encoder is available, or once when frames cannot be encoded.
    init(
        _ stream: AudioStream, to publication: any ChannelPublication, _ backend: any MediaBackend,
        _ configuration: AudioEncoderConfiguration, counting meter: FlowMeter<AudioMedia>,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.stream = stream
        self.publication = publication
        self.backend = backend
        self.meter = meter
        self.onFailure = onFailure
        state = Mutex(State(configuration: configuration))
        let number = stream.tap { [weak self] frame in self?.send(frame) }
        tap.withLock { $0 = number }
    }

    /// Changes the form of the sent audio from the next frame on.
    func configure(_ configuration: AudioEncoderConfiguration) {
        state.withLock { ($0.configuration, $0.hasGivenUp) = (configuration, false) }
    }

    /// Mutes the audio, or sends it again. The encoder's remaining units are sent before the audio
    /// is muted, so that none follows the pause.
    func setMuted(_ isMuted: Bool) {
        state.withLock { state in
            state.isMuted = isMuted
            if isMuted { finish(&state) }
        }
        publication.setMuted(isMuted)
    }

    /// Sends the encoder's remaining units, and announces the end.
    func stop() {
        if let number = tap.withLock({ $0.take() }) { stream.untap(number) }
        state.withLock { state in
            state.isOver = true
            finish(&state)
        }
        publication.end()
    }

    // MARK: Frames

    /// Called on the thread that delivers the frames.
    private func send(_ frame: AudioFrame) {
        meter.offered.note(frame)
        let (disposition, failure) = state.withLock { state -> (FrameDisposition, (any Error)?) in
            guard !state.isOver else { return (.dropped(.notStarted), nil) }
            guard !state.isMuted else { return (.dropped(.muted), nil) }
            guard state.configuration.codec != nil || !publication.carriesFrames else {
                finish(&state)
                return (publication.send(.samples(frame)), nil)
            }
            return encode(frame, &state)
        }
        meter.note(disposition)
        if let failure { onFailure(failure) }
    }

    private func encode(
        _ frame: AudioFrame, _ state: inout State
    ) -> (FrameDisposition, (any Error)?) {
        guard !state.hasGivenUp else { return (.dropped(.failed), nil) }
        do {
            let encoder = try encoder(&state)
            let loss = Int((publication.lossOfReceivers * 100).rounded(.up))
            if loss != state.expectedLoss {
                encoder.expectLoss(of: Double(loss) / 100)
                state.expectedLoss = loss
            }
            for unit in try encoder.encode(frame) {
                let disposition = publication.send(.audioUnit(unit))
                guard disposition.isAccepted else { return (disposition, nil) }
            }
            return (.accepted, nil)
        } catch {
            state.hasGivenUp = true
            (state.encoder, state.settings) = (nil, nil)
            return (.dropped(.failed), error)
        }
    }

    private func encoder(_ state: inout State) throws -> any AudioEncoder {
        let configuration = state.configuration
        let codec = try encodingCodec(
            configuration.codec, in: publication.audioCodecs, from: backend.encodableAudioCodecs,
            of: .audio)
        let settings = AudioEncoderSettings(codec, bitRate: configuration.bitRate)
        if let encoder = state.encoder, let before = state.settings, before.codec == settings.codec
        {
            if before.bitRate != settings.bitRate { encoder.setBitRate(settings.bitRate) }
            state.settings = settings
            return encoder
        }
        // The old encoder's remaining units are sent before those of the new one.
        finish(&state)
        let encoder = try backend.makeAudioEncoder(settings)
        (state.encoder, state.settings, state.expectedLoss) = (encoder, settings, 0)
        return encoder
    }

    private func finish(_ state: inout State) {
        guard let encoder = state.encoder.take() else { return }
        state.settings = nil
        for unit in (try? encoder.finish()) ?? [] { publication.send(.audioUnit(unit)) }
    }
}
