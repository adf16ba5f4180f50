internal import MediaBasics
internal import Synchronization

/// Encodes frames in a small pipeline: appsrc, videoconvert, encoder, parser, appsink.
///
/// Units are delivered on the pipeline's streaming thread. The encoder sees times that start at zero,
/// at the intervals of the frames' times. Each unit gets the original time of its frame.
final class PipelineEncoder: VideoEncoder {
    private let encoder: VideoEncoderElement
    private let capture: Capture
    private let source: AppSource
    private let element: Element
    private let units: Units

    private struct State {
        var isOpen = true
        var last: MediaTime?
    }
    private let state = Mutex(State())
    let room = MonotonicSignal()
    private static let stateDeadline = Duration.seconds(3).asDefaultDeadline

    /// Blocks until the pipeline runs.
    init(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws(PipelineError) {
        encoder = try settings.codec.liveEncoder {
            settings.encoder.allows($0) && !settings.avoided.contains($0.factoryName)
        }
        capture = try Capture(encoder.liveText(settings), depth: 3)
        guard
            let source = capture.pipeline.element(named: VideoEncoderElement.sourceName)
                .flatMap({ AppSource($0) }),
            let element = capture.pipeline.element(named: VideoEncoderElement.encoderName)
        else { throw PipelineError(.wrongEnds, message: "the encoder's pipeline has no appsrc") }
        self.source = source
        self.element = element
        units = Units(to: consumer)
        source.configure(QueueLimit(buffers: 4), dropsOldest: false)
        source.onDeparture { [room] in room.signal() }
        if let interval = ClockTime(MediaTime(settings.keyFrameInterval)) {
            source.forceKeyFrames(every: interval)
        }
        capture.pipeline.onFirstError { [weak self] in self?.failed($0) }
        capture.prepare()
        capture.branches[0].push(to: units)
        try capture.pipeline.setStateAndWait(.playing, deadline: Self.stateDeadline)
    }

    // MARK: VideoEncoder

    var name: String { encoder.factoryName }

    func encode(_ frame: VideoFrame) -> FrameDisposition {
        guard let time = frame.runningTime else { return .dropped(.noTime) }
        guard frame.size.width % 2 == 0, frame.size.height % 2 == 0 else {
            return .dropped(.badSize)
        }
        guard let wrapped = try? frame.wrapped() else { return .dropped(.badFormat) }
        guard !source.isFull else { return .dropped(.queueFull) }
        let caps = wrapped.caps
        var own: Buffer? = wrapped.buffer.withOwnHeader()
        return state.withLock { state in
            guard state.isOpen, var buffer = own.take() else { return .dropped(.closed) }
            if let last = state.last, time <= last { return .dropped(.backwards) }
            state.last = time
            buffer.presentationTime = units.enter(frame, at: time)
            buffer.decodingTime = nil
            source.setCaps(caps)
            return source.push(buffer) ? .accepted : .dropped(.closed)
        }
    }

    func requestKeyFrame() { source.forceKeyFrame(from: ClockTime(nanoseconds: 0)) }

    func setBitRate(_ bitRate: Int) {
        if let (property, value) = encoder.bitRate(bitRate) { element.set(property, value) }
    }

    func stop() {
        if close() {
            source.endOfStream()
            units.end.wait(for: .seconds(3))
        }
        units.close()
        capture.branches[0].discard()
        _ = try? capture.pipeline.setStateAndWait(.null, deadline: Self.stateDeadline)
    }

    /// Accepts no more frames. A thread that waits for room finds the encoder closed.
    ///
    /// - Returns: False if it was closed before.
    private func close() -> Bool {
        defer { room.signal() }
        return state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
    }

    /// Thread: the one that posts the error.
    private func failed(_ error: PipelineError) {
        let wasOpen = close()
        units.end.signal()
        guard wasOpen else { return }
        // On a separate queue: the consumer may call `stop`.
        SerialQueue(label: "mediabridge.failure").async { [units] in
            units.consumer.sourceDidFail(error)
        }
    }

    /// Passes units from the pipeline to the consumer.
    private final class Units: MediaReceiver {
        private struct State {
            /// The running time at which the encoder's time is zero.
            var base: MediaTime?
            var rotation = VideoRotation.upright
            var live: LiveTiming?
            var isClosed = false
        }
        private let state = Mutex(State())
        let consumer: any VideoFrameConsumer
        /// Signalled after the last unit.
        let end = MonotonicSignal()

        init(to consumer: any VideoFrameConsumer) { self.consumer = consumer }

        /// Notes a frame that is about to be encoded.
        ///
        /// - Returns: Its time in the pipeline.
        func enter(_ frame: borrowing VideoFrame, at time: MediaTime) -> ClockTime? {
            let (rotation, live) = (frame.rotation, frame.liveTiming)
            return state.withLock { state in
                let base = state.base ?? time
                (state.base, state.rotation, state.live) = (base, rotation, live)
                return ClockTime(time - base)
            }
        }

        func close() { state.withLock { $0.isClosed = true } }

        func receive(_ frame: consuming VideoFrame) -> FrameDisposition {
            .dropped(.wrongBufferType)
        }

        func receive(_ sample: MediaSample) -> FrameDisposition {
            let (base, rotation, live, isClosed) = state.withLock {
                ($0.base ?? .zero, $0.rotation, $0.live, $0.isClosed)
            }
            guard !isClosed else { return .dropped(.closed) }
            var unit = EncodedVideoFrame(sample, rotation: rotation)
            unit.runningTime = unit.runningTime.map { $0 + base }
            // Nothing is reordered.
            unit.decodingTime = nil
            unit.duration = nil
            unit.liveTiming = live
            return consumer.consume(unit)
        }

        func streamEnded(_ end: StreamEnd) { self.end.signal() }
    }
}

// MARK: Elements

extension VideoEncoderElement {
    /// The names of the appsrc and of the encoder in the pipeline.
    fileprivate static let (sourceName, encoderName) = ("frames", "encoder")

    /// Returns a capture string that begins with an appsrc for frames.
    fileprivate func liveText(_ settings: VideoEncoderSettings) -> String {
        let frameRate = min(max(settings.frameRate, 1), 1000)
        let thousandths = Int((frameRate * 1000).rounded())
        let hint = settings.contentHint
        let setup = VideoEncoderSetup(
            bitRate: settings.bitRate, frameRate: frameRate,
            keyFrameInterval: MediaTime(settings.keyFrameInterval), isForNetwork: true,
            wantsSharpness: hint == .details || hint == .text)
        // Streams in 4:2:0 are decoded everywhere; it needs an even width and height.
        return "appsrc name=\(Self.sourceName) format=time ! \(picture(nil, .upright)) ! "
            // Without a frame rate x264 holds each picture back until the next one comes.
            + #"capssetter caps="video/x-raw,framerate=(fraction)\#(thousandths)/1000" ! "#
            + "\(text(setup, name: Self.encoderName)) ! \(liveForm(settings.codec)) "
            + "! appsink name=\(BridgedText.defaultBranch)"
    }

    private func liveForm(_ codec: VideoCodec) -> String {
        guard codec == .h264 else { return codec.mediaType }
        // The profile that every receiver of WebRTC decodes; some hardware knows it by the name of the larger one.
        let profile = isHardware ? "{constrained-baseline,baseline}" : "constrained-baseline"
        return "video/x-h264,profile=\(profile) ! h264parse config-interval=-1 ! "
            + "video/x-h264,stream-format=byte-stream,alignment=au"
    }
}
