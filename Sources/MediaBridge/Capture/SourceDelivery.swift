internal import MediaBasics
internal import Synchronization

/// From a branch of a capture to the consumer of the day: the frames of one run after the other, and
/// how each run ended, once and after its frames.
final class SourceDelivery: CaptureReceiver {
    /// How a run ended by itself.
    enum Ending: Sendable {
        case ended
        case failed(PipelineError)
    }
    private enum Phase: Sendable {
        case idle
        /// The change to PLAYING is under way: its own failure is thrown, not told.
        case starting
        case running
    }
    /// Who gets the frames: those of one kind.
    enum Consumer: Sendable {
        case video(any VideoFrameConsumer)
        case audio(any AudioFrameConsumer)

        func tell(_ ending: Ending) {
            switch (self, ending) {
            case (.video(let consumer), .ended): consumer.sourceDidEnd()
            case (.audio(let consumer), .ended): consumer.sourceDidEnd()
            case (.video(let consumer), .failed(let error)): consumer.sourceDidFail(error)
            case (.audio(let consumer), .failed(let error)): consumer.sourceDidFail(error)
            }
        }
    }
    private struct State {
        var consumer: Consumer?
        var phase = Phase.idle
        /// A frame is with the consumer, which gets one call at a time.
        var isBusy = false
        /// Not told yet.
        var ending: Ending?
        var onFirstFrame: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    /// Frames of this run that came when nobody took them.
    private let unwanted = Atomic<Int>(0)
    /// Where endings are told: never on a streaming thread.
    private let queue = SerialQueue(label: "mediabridge.ending")

    var consumer: Consumer? {
        get { state.withLock { $0.consumer } }
        set {
            // What it replaces is let go of outside of the lock.
            _ = state.withLock { state in
                let old = state.consumer
                state.consumer = newValue
                return old
            }
        }
    }

    var unwantedFrames: Int { unwanted.load(ordering: .acquiring) }

    /// A run begins: frames pass.
    ///
    /// - Parameter onFirstFrame: Called before the consumer gets it.
    func begin(onFirstFrame: @escaping @Sendable () -> Void) {
        unwanted.store(0, ordering: .releasing)
        state.withLock { state in
            state.phase = .starting
            state.ending = nil
            state.onFirstFrame = onFirstFrame
        }
    }

    /// The run is under way: its end is told from here on.
    func started() {
        state.withLock { if $0.phase == .starting { $0.phase = .running } }
        tellEnding()
    }

    /// The run is over for a reason that needs no telling.
    func stop() {
        state.withLock { state in
            state.phase = .idle
            state.ending = nil
        }
    }

    /// The run ended by itself: no frame passes after this. The first ending counts.
    func finish(_ ending: Ending) {
        state.withLock { state in
            guard state.phase != .idle, state.ending == nil else { return }
            state.ending = ending
        }
        tellEnding()
    }

    // MARK: CaptureReceiver

    func receive(_ frame: consuming VideoFrame) {
        guard let consumer = enter() else { return }
        if case .video(let consumer) = consumer {
            consumer.consume(frame)
            leave()
        } else {
            leave()
            finish(.failed(.notRaw("audio", "\(frame.format)")))
        }
    }

    func receive(_ frame: consuming AudioFrame) {
        guard let consumer = enter() else { return }
        if case .audio(let consumer) = consumer {
            consumer.consume(frame)
            leave()
        } else {
            leave()
            finish(.failed(.notRaw("video", "\(frame.format)")))
        }
    }

    func receive(_ sample: MediaSample) {
        let wanted = state.withLock { state in
            if case .audio = state.consumer { "audio" } else { "video" }
        }
        finish(.failed(.notRaw(wanted, "\(sample.caps)")))
    }

    /// Who takes the next frame; to be told when he has (``leave()``).
    private func enter() -> Consumer? {
        var onFirstFrame: (@Sendable () -> Void)?
        let consumer = state.withLock { state -> Consumer? in
            guard state.phase != .idle, state.ending == nil, let consumer = state.consumer else {
                return nil
            }
            state.isBusy = true
            if state.onFirstFrame != nil {
                onFirstFrame = state.onFirstFrame
                state.onFirstFrame = nil
            }
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
        if isOver { tellEnding() }
    }

    func branchEnded(losing loss: PipelineError?) { finish(loss.map { .failed($0) } ?? .ended) }

    /// Tells what is to be told, where nobody is with the consumer; who is does so when it comes out.
    private func tellEnding() {
        queue.async { [self] in
            let told = state.withLock { state -> (Consumer, Ending)? in
                guard state.phase == .running, !state.isBusy, let ending = state.ending,
                    let consumer = state.consumer
                else { return nil }
                state.phase = .idle
                return (consumer, ending)
            }
            if let (consumer, ending) = told { consumer.tell(ending) }
        }
    }
}

extension PipelineError {
    /// A capture gives something that no receiver of frames can take.
    static func notRaw(_ kind: String, _ what: String) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the capture gives \(what), not raw \(kind)",
            advice: "put decodebin, or \(kind)convert, at the end of the string")
    }
}
