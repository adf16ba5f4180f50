internal import Dispatch
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
    private struct State {
        var consumer: (any VideoFrameConsumer)?
        var phase = Phase.idle
        /// A frame is with the consumer, which gets one call at a time.
        var isBusy = false
        /// Not told yet.
        var ending: Ending?
        var onFirstFrame: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    /// Where endings are told: never on a streaming thread.
    private let queue = DispatchQueue(label: "mediabridge.ending")

    var consumer: (any VideoFrameConsumer)? {
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

    /// A run begins: frames pass.
    ///
    /// - Parameter onFirstFrame: Called before the consumer gets it.
    func begin(onFirstFrame: @escaping @Sendable () -> Void) {
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
        var onFirstFrame: (@Sendable () -> Void)?
        let consumer = state.withLock { state -> (any VideoFrameConsumer)? in
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
        guard let consumer else { return }
        onFirstFrame?()
        consumer.consume(frame)
        let isOver = state.withLock { state in
            state.isBusy = false
            return state.ending != nil
        }
        if isOver { tellEnding() }
    }

    func receive(_ sample: MediaSample) {
        finish(.failed(.notRawVideo(sample.caps)))
    }

    func branchEnded() { finish(.ended) }

    /// Tells what is to be told, where nobody is with the consumer; who is does so when it comes out.
    private func tellEnding() {
        queue.async { [self] in
            let told = state.withLock { state -> (any VideoFrameConsumer, Ending)? in
                guard state.phase == .running, !state.isBusy, let ending = state.ending,
                    let consumer = state.consumer
                else { return nil }
                state.phase = .idle
                return (consumer, ending)
            }
            switch told {
            case nil: break
            case (let consumer, .ended)?: consumer.sourceDidEnd()
            case (let consumer, .failed(let error))?: consumer.sourceDidFail(error)
            }
        }
    }
}

extension PipelineError {
    /// A capture gives something that no receiver of frames can take.
    static func notRawVideo(_ caps: Caps) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the capture gives \(caps), not raw video",
            advice: "put decodebin, or videoconvert, at the end of the string")
    }
}
