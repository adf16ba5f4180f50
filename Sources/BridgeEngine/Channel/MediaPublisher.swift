package import MediaCore
internal import Synchronization

/// Publishes pictures, sound and encoded frames without an engine: encodes media that the publication
/// does not carry, within its limits, and passes encoded frames on unchanged.
///
/// Thread: any, one frame of video, and one frame of audio, at a time.
package final class MediaPublisher: PublicationFeedback {
    private let video: VideoStream
    private let sent: FlowMeter<VideoMedia>
    private let encoded = EncodingMeter()
    private let publisher = Mutex<Publisher?>(nil)
    private let audio = AudioStream()
    private let sentAudio = FlowMeter<AudioMedia>()
    private let audioPublisher = Mutex<AudioPublisher?>(nil)
    private let backend: any MediaBackend
    private let onKeyFrameNeeded: @Sendable () -> Void
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - backend: Encodes and converts.
    ///   - onKeyFrameNeeded: Asks the source of encoded frames for a key frame.
    ///   - onFailure: Called if something cannot be encoded.
    package init(
        _ backend: any MediaBackend, onKeyFrameNeeded: @escaping @Sendable () -> Void = {},
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.backend = backend
        self.onKeyFrameNeeded = onKeyFrameNeeded
        self.onFailure = onFailure
        video = VideoStream(backend)
        sent = FlowMeter(clock: { backend.clockTime() })
    }

    /// Begins to send. The publication's feedback must be this object.
    package func begin(
        _ publication: any ChannelPublication, _ configuration: VideoEncoderConfiguration,
        hint: VideoContentHint = .unspecified
    ) {
        let context = Publisher.Context(
            backend: backend, clock: EngineClock(backend, isOffline: false, latency: .zero),
            queueTimeout: .seconds(1), sent: sent, encoded: encoded, contentHint: { hint },
            onKeyFrameNeeded: onKeyFrameNeeded, onFailure: onFailure)
        let fresh = Publisher(video, to: publication, configuration, context)
        publisher.withLock { $0 = fresh }
    }

    /// Begins to send audio.
    package func beginAudio(
        _ publication: any ChannelPublication, _ configuration: AudioEncoderConfiguration
    ) {
        let fresh = AudioPublisher(
            audio, to: publication, backend, configuration, counting: sentAudio,
            onFailure: onFailure)
        audioPublisher.withLock { $0 = fresh }
    }

    /// Sends a picture.
    package func consume(_ frame: consuming VideoFrame) { video.consume(frame) }

    /// Sends an encoded frame.
    ///
    /// - Returns: Dropped as ``DropCause/wrongBufferType``, uncounted, for a frame that the publication does
    ///   not carry.
    package func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { video.consume(unit) }

    /// Sends samples.
    package func consume(_ frame: AudioFrame) { audio.consume(frame) }

    /// Sends queued media, and ends the publications.
    ///
    /// - Parameter limit: The maximum time for sending queued media.
    package func stop(within limit: Duration) async {
        audioPublisher.withLock { $0.take() }?.stop()
        await publisher.withLock { $0.take() }?.stop(within: limit)
    }

    /// The balance of the pictures to encode. Without any, that of the sent pictures and encoded
    /// frames; without those, that of the sound.
    package var balance: FrameBalance {
        [encoded.balance, sent.balance].first { $0.offered > 0 } ?? sentAudio.balance
    }

    /// The number of sent pictures, encoded frames and audio frames.
    package var sentCount: Int { sent.delivered.frames + sentAudio.delivered.frames }

    // MARK: PublicationFeedback

    package func keyFrameNeeded() {
        if publisher.withLock({ $0 })?.requestKeyFrame() != true { onKeyFrameNeeded() }
    }

    package func limitChanged(_ limit: VideoLimit) {
        publisher.withLock { $0 }?.encoder.limit(limit)
    }

    package func codecsChanged() -> Bool {
        publisher.withLock { $0 }?.codecsChanged() ?? false
    }

    package func stateChanged(_ state: PublicationState) {
        let isPaused = if case .paused = state { true } else { false }
        publisher.withLock { $0 }?.encoder.pause(for: isPaused ? .notConnected : nil)
    }
}
