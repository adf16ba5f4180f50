internal import MediaBasics
internal import Synchronization

/// Passes the frames of a branch to the current consumer, run after run, and reports how each run
/// ended, once and after its frames.
final class SourceDelivery: MediaReceiver {
    /// How a run ended by itself.
    typealias Ending = Result<Void, PipelineError>
    private enum Phase: Sendable {
        case idle
        /// The change to PLAYING is under way: if it fails, the error is thrown, not reported.
        case starting
        case running
    }
    /// The consumer of the frames, for video or for audio.
    enum Consumer: Sendable {
        case video(any VideoFrameConsumer)
        case audio(any AudioFrameConsumer)

        func notify(_ ending: Ending) {
            switch (self, ending) {
            case (.video(let consumer), .success): consumer.sourceDidEnd()
            case (.audio(let consumer), .success): consumer.sourceDidEnd()
            case (.video(let consumer), .failure(let error)): consumer.sourceDidFail(error)
            case (.audio(let consumer), .failure(let error)): consumer.sourceDidFail(error)
            }
        }
    }
    private struct State {
        var consumer: Consumer?
        var phase = Phase.idle
        /// The consumer is taking a frame; it gets one call at a time.
        var isBusy = false
        /// How the run ended; `nil` while it goes on.
        var ending: Ending?
        var onFirstFrame: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let translation: SampleTranslation
    private let decoding: AudioDecoding
    private let undecoded: UndecodedUnits
    /// Frames of this run that came when there was no consumer, or after the end.
    private let unwanted = Atomic<Int>(0)
    /// Queue on which endings are reported: never on a streaming thread.
    private let queue = SerialQueue(label: "mediabridge.ending")

    /// - Parameters:
    ///   - decoding: Decodes audio that comes encoded.
    ///   - undecoded: Counts the units of audio that are damaged.
    init(
        of translation: SampleTranslation, _ decoding: AudioDecoding,
        counting undecoded: UndecodedUnits
    ) {
        self.translation = translation
        self.decoding = decoding
        self.undecoded = undecoded
    }

    var consumer: Consumer? {
        get { state.withLock { $0.consumer } }
        set {
            // The old consumer is released outside the lock.
            _ = state.withLock { state in
                let old = state.consumer
                state.consumer = newValue
                return old
            }
        }
    }

    var unwantedFrames: Int { unwanted.load(ordering: .acquiring) }

    /// Begins a run: frames are passed on from here on.
    ///
    /// - Parameter onFirstFrame: Called before the consumer gets the first frame.
    func begin(onFirstFrame: @escaping @Sendable () -> Void) {
        unwanted.store(0, ordering: .releasing)
        state.withLock { state in
            state.phase = .starting
            state.ending = nil
            state.onFirstFrame = onFirstFrame
        }
    }

    /// Marks the run as started: its end is reported from here on.
    func started() {
        state.withLock { if $0.phase == .starting { $0.phase = .running } }
        reportEnding()
    }

    /// Ends the run without a report to the consumer.
    func stop() {
        state.withLock { state in
            state.phase = .idle
            state.ending = nil
        }
    }

    /// Notes that the run ended by itself: no frame passes after this. Only the first ending
    /// counts.
    func finish(_ ending: Ending) {
        state.withLock { state in
            guard state.phase != .idle, state.ending == nil else { return }
            state.ending = ending
        }
        reportEnding()
    }

    // MARK: MediaReceiver

    func receive(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let consumer = enter() else { return .dropped(.notStarted) }
        if case .video(let consumer) = consumer {
            defer { leave() }
            return consumer.consume(frame)
        }
        leave()
        return refuse("audio", "\(frame.format)")
    }

    func receive(_ frame: consuming AudioFrame) -> FrameDisposition {
        guard let consumer = enter() else { return .dropped(.notStarted) }
        if case .audio(let consumer) = consumer {
            defer { leave() }
            return consumer.consume(frame)
        }
        leave()
        return refuse("video", "\(frame.format)")
    }

    func receive(_ sample: MediaSample) -> FrameDisposition {
        guard let consumer = enter() else { return .dropped(.notStarted) }
        let result = pass(sample, to: consumer)
        leave()
        switch result {
        case .success(.dropped(.wrongBufferType)):
            if case .video = consumer { return refuse("video", "\(sample.caps)") }
            return refuse("audio", "\(sample.caps)")
        case .success(let disposition): return disposition
        case .failure(let error):
            finish(.failure(error))
            return .dropped(.undecodable)
        }
    }

    /// Passes an encoded frame on: pictures as they are, sound as the samples in it.
    private func pass(
        _ sample: MediaSample, to consumer: Consumer
    ) -> Result<FrameDisposition, PipelineError> {
        switch consumer {
        case .video(let consumer):
            guard sample.caps.isEncodedPictures else { return .success(.dropped(.wrongBufferType)) }
            guard !sample.isHeader else { return .success(.accepted) }
            let unit = EncodedVideoFrame(sample, rotation: translation.rotation)
            return .success(consumer.consume(unit))
        case .audio(let consumer):
            return Result { () throws(PipelineError) in
                guard let frames = try decoding.frames(of: sample, counting: undecoded) else {
                    return .dropped(.wrongBufferType)
                }
                for frame in frames { consumer.consume(frame) }
                return .accepted
            }
        }
    }

    /// Ends the run, because the consumer cannot take what came.
    private func refuse(_ kind: String, _ what: String) -> FrameDisposition {
        finish(.failure(.notRaw(kind, what)))
        return .dropped(.wrongBufferType)
    }

    /// Returns the consumer of the next frame, `nil` if it is not wanted. The caller calls
    /// ``leave()`` when the consumer has taken the frame.
    private func enter() -> Consumer? {
        var onFirstFrame: (@Sendable () -> Void)?
        let consumer = state.withLock { state -> Consumer? in
            guard state.phase != .idle, state.ending == nil, let consumer = state.consumer else {
                return nil
            }
            state.isBusy = true
            onFirstFrame = state.onFirstFrame.take()
            return consumer
        }
        onFirstFrame?()
        if consumer == nil { unwanted.add(1, ordering: .releasing) }
        return consumer
    }

    private func leave() {
        let isOver = state.withLock { state in
            state.isBusy = false
            return state.ending != nil
        }
        if isOver { reportEnding() }
    }

    func streamEnded(_ end: StreamEnd) {
        if case .missing(let loss) = end { finish(.failure(loss)) } else { finish(.success(())) }
    }

    /// Reports the ending, unless the consumer is taking a frame: ``leave()`` reports it then.
    private func reportEnding() {
        queue.async { [self] in
            let ended = state.withLock { state -> (Consumer, Ending)? in
                guard state.phase == .running, !state.isBusy, let ending = state.ending,
                    let consumer = state.consumer
                else { return nil }
                state.phase = .idle
                return (consumer, ending)
            }
            if let (consumer, ending) = ended { consumer.notify(ending) }
        }
    }
}

extension PipelineError {
    /// Returns the error for a capture that delivers something other than raw frames.
    static func notRaw(_ kind: String, _ what: String) -> PipelineError {
        let isOfOtherKind = what.hasPrefix("audio/") != (kind == "audio")
        return PipelineError(
            .streamFailed, message: "the capture produces \(what), not raw \(kind)",
            advice: isOfOtherKind
                ? "name the appsinks by their media: appsink name=video for video, appsink "
                    + "name=audio for audio"
                : "put decodebin, or \(kind)convert, at the end of the string")
    }
}
