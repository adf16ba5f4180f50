internal import MediaBasics
internal import Synchronization

/// Encodes frames in a small pipeline: appsrc, videoconvert, encoder, parser, appsink.
///
/// Units are delivered on the pipeline's streaming thread. The encoder sees times that start at zero,
/// at the intervals of the frames' times. Each unit gets the original time of its frame.
final class PipelineEncoder: VideoEncoder {
    private let encoder: StreamEncoder
    private let capture: Capture
    private let source: AppSource
    private let element: Element
    private let units: Units

    private struct State {
        var isOpen = true
        /// Of the last frame. Retained, so that no other caps can get the same identity.
        var caps: Caps?
        var last: MediaTime?
    }
    private let state = Mutex(State())
    let room = MonotonicSignal()
    /// Maximum number of frames that wait.
    private static let depth = 4
    private static let stateDeadline = Duration.seconds(3).asDefaultDeadline

    /// Blocks until the pipeline runs.
    init(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws(PipelineError) {
        encoder = try StreamEncoder.find(for: settings.codec)
        capture = try Capture(encoder.text(settings), depth: 3)
        guard
            let source = capture.pipeline.element(named: StreamEncoder.sourceName)
                .flatMap({ AppSource($0) }),
            let element = capture.pipeline.element(named: StreamEncoder.encoderName)
        else { throw PipelineError(.wrongEnds, message: "the encoder's pipeline has no appsrc") }
        self.source = source
        self.element = element
        units = Units(to: consumer)
        source.configure(depth: Self.depth, dropsOldest: false)
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

    func encode(_ frame: VideoFrame) -> FrameDisposition {
        guard let time = frame.runningTime else { return .dropped(.noTime) }
        guard frame.size.width % 2 == 0, frame.size.height % 2 == 0 else { return .badSize }
        guard let wrapped = try? frame.wrapped() else { return .dropped(.badFormat) }
        guard source.queuedBuffers < Self.depth else { return .queueFull }
        let caps = wrapped.caps
        var own: Buffer? = wrapped.buffer.withOwnHeader()
        return state.withLock { state in
            guard state.isOpen, var buffer = own.take() else { return .dropped(.closed) }
            if let last = state.last, time <= last { return .dropped(.backwards) }
            state.last = time
            buffer.presentationTime = units.enter(frame, at: time)
            buffer.decodingTime = nil
            if state.caps?.identity != caps.identity {
                state.caps = caps
                source.setCaps(caps)
            }
            guard source.push(buffer) == .ok else {
                return .dropped(.closed)
            }
            return .accepted
        }
    }

    func requestKeyFrame() { source.forceKeyFrame(from: ClockTime(nanoseconds: 0)) }

    func setBitRate(_ bitRate: Int) {
        let (property, value) = encoder.bitRate(bitRate)
        element.set(property, "\(value)")
    }

    func stop() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen {
            let end = units.expectEnd()
            source.endOfStream()
            end.wait(for: .seconds(3))
        }
        units.close()
        capture.branches[0].discard()
        _ = try? capture.pipeline.setStateAndWait(.null, deadline: Self.stateDeadline)
    }

    /// Thread: the one that posts the error.
    private func failed(_ error: PipelineError) {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        units.ended()
        room.signal()
        guard wasOpen else { return }
        // On a separate queue: the consumer may call `stop`.
        SerialQueue(label: "mediabridge.failure").async { [units] in
            units.consumer.sourceDidFail(error)
        }
    }

    /// Passes units from the pipeline to the consumer.
    private final class Units: CaptureReceiver {
        private struct State {
            /// The running time at which the encoder's time is zero.
            var base: MediaTime?
            var rotation = VideoRotation.none
            var live: LiveTiming?
            var isClosed = false
            /// Signalled at the end.
            var end: MonotonicSignal?
        }
        private let state = Mutex(State())
        let consumer: any VideoFrameConsumer

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

        func expectEnd() -> MonotonicSignal {
            let signal = MonotonicSignal()
            state.withLock { $0.end = signal }
            return signal
        }

        func ended() { state.withLock { $0.end }?.signal() }

        func close() { state.withLock { $0.isClosed = true } }

        func receive(_ frame: consuming VideoFrame) {}

        func receive(_ sample: MediaSample) {
            let (base, rotation, live, isClosed) = state.withLock {
                ($0.base ?? .zero, $0.rotation, $0.live, $0.isClosed)
            }
            guard !isClosed else { return }
            var unit = EncodedVideoFrame(sample, rotation: rotation)
            unit.runningTime = unit.runningTime.map { $0 + base }
            // Nothing is reordered.
            unit.decodingTime = nil
            unit.duration = nil
            unit.liveTiming = live
            consumer.consume(unit)
        }

        func branchEnded(losing loss: PipelineError?) { ended() }
    }
}
