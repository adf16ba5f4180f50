internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The consumer of a source that is an element: keeps its frames until the element gives them.
///
/// Frames of a live source replace the oldest ones if there are too many; any other source waits. Thread: any.
final class SourceQueue: VideoFrameConsumer, AudioFrameConsumer {
    /// A frame of one of the two kinds.
    enum Frame: Sendable {
        case video(VideoFrame)
        case audio(AudioFrame)

        var isVideo: Bool { if case .video = self { true } else { false } }
        var time: MediaTime? {
            switch self {
            case .video(let frame): frame.runningTime
            case .audio(let frame): frame.runningTime
            }
        }
        var liveTiming: LiveTiming? {
            switch self {
            case .video(let frame): frame.liveTiming
            case .audio(let frame): frame.liveTiming
            }
        }
        /// The most frames that wait: of sound, a second in parts of ten milliseconds.
        fileprivate var mostWaiting: Int { isVideo ? SourceQueue.mostPictures : 100 }
    }
    /// The most pictures that wait.
    static let mostPictures = 4
    /// The next frame, or the end.
    enum Next {
        case frame(Frame, age: Duration)
        case end
        case failure(any Error)
        case interrupted
    }
    private struct State {
        var waiting = Fifo<(frame: Frame, arrival: Duration)>()
        var isOpen = false
        var isLive = false
        var isInterrupted = false
        var ending: Next?
        var evicted = 0
    }
    private let state = Mutex(State())
    /// A frame or the end is there.
    private let arrived = MonotonicSignal()
    /// A frame has left, or the queue is closed.
    private let room = MonotonicSignal()
    private let timeline = TimerThread.system

    /// Begins a run.
    func open(isLive: Bool) {
        state.withLock { state in
            state = State()
            (state.isOpen, state.isLive) = (true, isLive)
        }
    }

    /// Ends a run: a source that waits goes on, and its frames are refused.
    func close() {
        // Frames are released outside of the lock, because that may run the program's code.
        let rest = state.withLock { state in
            state.isOpen = false
            return state.waiting.removeAll()
        }
        room.signal()
        withExtendedLifetime(rest) {}
    }

    /// Interrupts ``next()``, or ends the interruption.
    func interrupt(_ isInterrupted: Bool) {
        state.withLock { $0.isInterrupted = isInterrupted }
        if isInterrupted { arrived.signal() }
    }

    /// Waits for the next frame or the end.
    ///
    /// - Returns: It, and the number of frames that were dropped since the last call because newer ones came.
    func next() -> (Next, evicted: Int) {
        while true {
            let now = timeline.now
            let next = state.withLock { state -> (Next, Int)? in
                let next: Next
                if state.isInterrupted {
                    next = .interrupted
                } else if let (frame, arrival) = state.waiting.popFirst() {
                    next = .frame(frame, age: max(.zero, now - arrival))
                } else if let ending = state.ending {
                    next = ending
                } else {
                    return nil
                }
                defer { state.evicted = 0 }
                return (next, state.evicted)
            }
            guard let next else {
                arrived.wait()
                continue
            }
            room.signal()
            return next
        }
    }

    // MARK: The consumer

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition { take(.video(frame)) }

    func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        frame.sampleCount > 0 ? take(.audio(frame)) : .dropped(.badSize)
    }

    private func take(_ frame: Frame) -> FrameDisposition {
        let time = timeline.now
        while true {
            var evicted: Frame?
            let disposition = state.withLock { state -> FrameDisposition? in
                guard state.isOpen, state.ending == nil else { return .dropped(.notStarted) }
                guard frame.time != nil || !frame.isVideo else {
                    state.ending = .failure(
                        FrameError(.badLayout, "a frame without a time: set runningTime"))
                    return .dropped(.noTime)
                }
                if state.waiting.count >= frame.mostWaiting {
                    guard state.isLive else { return nil }
                    evicted = state.waiting.popFirst()?.frame
                    state.evicted += 1
                }
                state.waiting.append((frame, time))
                return .accepted
            }
            withExtendedLifetime(evicted) {}
            if let disposition {
                arrived.signal()
                return disposition
            }
            room.wait()
        }
    }

    func sourceDidEnd() { end(.end) }

    func sourceDidFail(_ error: any Error) { end(.failure(error)) }

    private func end(_ ending: Next) {
        state.withLock { state in
            if state.isOpen, state.ending == nil { state.ending = ending }
        }
        arrived.signal()
    }
}
