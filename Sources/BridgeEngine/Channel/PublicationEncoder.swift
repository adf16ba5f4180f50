internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Encodes the frames of one publication, with an encoder that follows the requested settings.
///
/// Thread: ``encode(_:)`` and ``stop()`` on the publisher's queue; all else on any.
final class PublicationEncoder: Sendable {
    /// The requested encoding.
    struct Request {
        var configuration: VideoEncoderConfiguration
        var limit = VideoLimit()
        /// Why frames are dropped before they are encoded; `nil`: they are not.
        var pause: DropCause?
    }
    private struct State {
        var request: Request
        var encoder: (any VideoEncoder)?
        var settings: VideoEncoderSettings?
        var plan: SendPlan?
        /// When the next frame is due, if frames arrive faster than wanted.
        var next: MediaTime?
        /// No encoder could be created: not retried before a new configuration.
        var hasGivenUp = false
        /// The names of the encoders that have failed since the last configuration, and why the last one did.
        var avoided: Set<String> = []
        var failure: (any Error)?
        var needsKeyFrame = false
        /// Frames in the encoder that have not produced a unit yet.
        var inside = 0
    }
    private let state: Mutex<State>
    private let context: Publisher.Context
    private let converter: any VideoConverter
    /// Returns the codecs that the channel carries now.
    private let codecs: @Sendable () -> Set<VideoCodec>
    private let output: Output

    /// Receives the units of the encoders.
    private final class Output: VideoFrameConsumer {
        let send: @Sendable (EncodedVideoFrame) -> Void
        let onFailure: @Sendable (any Error) -> Void
        let owner = SelfReference<PublicationEncoder>()

        init(
            send: @escaping @Sendable (EncodedVideoFrame) -> Void,
            onFailure: @escaping @Sendable (any Error) -> Void
        ) {
            (self.send, self.onFailure) = (send, onFailure)
        }

        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            .dropped(.wrongBufferType)
        }

        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
            owner.object?.made()
            send(unit)
            return .accepted
        }

        func sourceDidFail(_ error: any Error) {
            owner.object?.failed(error)
        }
    }

    /// - Parameters:
    ///   - codecs: Returns the codecs that the channel carries now.
    ///   - send: Receives the units, on a thread of the encoder.
    init(
        _ configuration: VideoEncoderConfiguration, _ context: Publisher.Context,
        codecs: @escaping @Sendable () -> Set<VideoCodec>,
        send: @escaping @Sendable (EncodedVideoFrame) -> Void
    ) {
        self.context = context
        self.codecs = codecs
        converter = context.backend.makeConverter()
        state = Mutex(State(request: Request(configuration: configuration)))
        output = Output(send: send, onFailure: context.onFailure)
        output.owner.object = self
    }

    deinit {
        guard let encoder = state.withLock({ $0.encoder.take() }) else { return }
        SerialQueue(label: "mediabridge.publisher").async { encoder.stop() }
    }

    // MARK: What is asked for

    func configure(_ configuration: VideoEncoderConfiguration) {
        state.withLock { state in
            (state.request.configuration, state.hasGivenUp) = (configuration, false)
            (state.avoided, state.failure) = ([], nil)
        }
    }

    func limit(_ limit: VideoLimit) { state.withLock { $0.request.limit = limit } }

    /// Drops frames with this cause instead of encoding them. `nil` resumes encoding, from a key frame on.
    func pause(for cause: DropCause?) {
        state.withLock { state in
            if state.request.pause != nil, cause == nil { state.needsKeyFrame = true }
            state.request.pause = cause
        }
    }

    func requestKeyFrame() { state.withLock { $0.needsKeyFrame = true } }

    // MARK: Frames

    /// Encodes a frame.
    ///
    /// - Returns: Whether the encoder has accepted the frame.
    func encode(_ frame: VideoFrame) -> FrameDisposition {
        let request = state.withLock { $0.request }
        if let cause = request.pause { return .dropped(cause) }
        guard let time = frame.runningTime else { return .dropped(.noTime) }
        let plan = SendPlan(
            for: frame.size, frame.format.frameRate.map(\.value),
            hint: request.configuration.contentHint ?? context.contentHint(),
            request.configuration, request.limit)
        guard !plan.dropsFrames || isDue(time, plan) else { return .dropped(.frameRate) }
        guard let encoder = encoder(for: plan, request.configuration) else {
            return .dropped(.failed)
        }
        var frame = frame
        let conversion = VideoConversion(size: plan.size)
        if frame.size != plan.size {
            guard let smaller = try? converter.convert(frame, to: conversion) else {
                return .dropped(.badFormat)
            }
            frame = smaller
        }
        if state.withLock({ $0.needsKeyFrame }) {
            state.withLock { $0.needsKeyFrame = false }
            encoder.requestKeyFrame()
        }
        state.withLock { $0.inside += 1 }
        let disposition = context.clock.offer(for: context.queueTimeout, room: encoder.room) {
            encoder.encode(frame)
        }
        if !disposition.isAccepted { state.withLock { $0.inside -= 1 } }
        return disposition
    }

    /// Whether a frame is to be encoded at the planned frame rate.
    private func isDue(_ time: MediaTime, _ plan: SendPlan) -> Bool {
        state.withLock { state in
            let interval = MediaTime(seconds: 1 / plan.frameRate)
            // A frame up to a quarter of the interval early is on time: frames do not arrive
            // evenly.
            let slack = MediaTime(nanoseconds: interval.nanoseconds / 4)
            guard let next = state.next, time < next + interval + interval else {
                state.next = time + interval
                return true
            }
            guard time + slack >= next else {
                // The clock may have gone back.
                if next - time > interval + interval { state.next = time + interval }
                return false
            }
            state.next = next + interval
            return true
        }
    }

    /// Returns the encoder for a plan. If only the bit rate changes, the current encoder is
    /// adjusted. A change of size reaches the encoder with the frames.
    private func encoder(
        for plan: SendPlan, _ configuration: VideoEncoderConfiguration
    ) -> (any VideoEncoder)? {
        let (present, before, lastPlan, hasGivenUp) = state.withLock {
            ($0.encoder, $0.settings, $0.plan, $0.hasGivenUp)
        }
        if hasGivenUp { return nil }
        let carried = codecs()
        if let present, lastPlan == plan, let before, before.fits(configuration),
            carried.contains(before.codec)
        {
            return present
        }
        var settings = VideoEncoderSettings(
            before?.codec ?? .h264, bitRate: plan.bitRate, frameRate: plan.frameRate,
            keyFrameInterval: configuration.keyFrameInterval,
            contentHint: configuration.contentHint ?? context.contentHint())
        let (avoided, failure) = state.withLock { ($0.avoided, $0.failure) }
        // An encoder that was chosen is replaced by any other.
        settings.encoder = avoided.isEmpty ? configuration.encoder : .automatic
        settings.avoided = avoided
        do {
            settings.codec = try encodingCodec(
                configuration.codec, in: carried, from: context.backend.encodableCodecs, of: .video)
            var same = settings
            same.bitRate = before?.bitRate ?? 0
            if let present, same == before {
                present.setBitRate(plan.bitRate)
                state.withLock { ($0.settings, $0.plan) = (settings, plan) }
                return present
            }
            // The old encoder delivers its remaining units before the new one starts.
            stop()
            let fresh = try context.backend.makeEncoder(settings, to: output)
            state.withLock { state in
                (state.encoder, state.settings, state.plan) = (fresh, settings, plan)
                state.failure = nil
            }
            if let failure {
                context.onTakeover(
                    "\(fresh.name) encodes from here on, because the encoder failed: \(failure)")
            }
            return fresh
        } catch {
            state.withLock { ($0.hasGivenUp, $0.failure) = (true, nil) }
            output.onFailure(failure ?? error)
            return nil
        }
    }

    /// Counts a unit.
    fileprivate func made() {
        context.encoded.units.note()
        state.withLock { $0.inside = max(0, $0.inside - 1) }
    }

    /// Called on a thread of the encoder. The next frame creates another one.
    fileprivate func failed(_ error: any Error) {
        state.withLock { state in
            if let name = state.encoder?.name { state.avoided.insert(name) }
            (state.failure, state.settings, state.plan) = (error, nil, nil)
        }
    }

    /// Delivers the units of all frames so far, and releases the encoder.
    func stop() {
        let encoder = state.withLock { $0.encoder.take() }
        encoder?.stop()
        let lost = state.withLock { state in
            defer { (state.inside, state.settings, state.plan) = (0, nil, nil) }
            return state.inside
        }
        if lost > 0 { context.encoded.lost.note(.closed, lost) }
    }
}

extension VideoEncoderSettings {
    /// Whether the settings match a configuration, apart from rates.
    fileprivate func fits(_ configuration: VideoEncoderConfiguration) -> Bool {
        (configuration.codec ?? codec) == codec
            && configuration.keyFrameInterval == keyFrameInterval
            && (configuration.contentHint ?? contentHint) == contentHint
            && (configuration.encoder == encoder || !avoided.isEmpty)
    }
}
