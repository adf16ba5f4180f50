internal import MediaCore
internal import Synchronization

/// The consumer that an engine gives to a source: the gate that is open from start to stop, and the
/// count of what came when it was not.
///
/// Safe to use for as long as anybody holds it, also after its source was disposed of. Thread: any.
final class SourcePort: VideoFrameConsumer {
    /// Where frames go on.
    protocol Receiver: AnyObject, Sendable {
        func receive(_ frame: consuming VideoFrame, from port: SourcePort) -> FrameDisposition
        /// ``SourcePort/ending`` says how.
        func ended(_ port: SourcePort)
    }
    /// How a source came to its end.
    enum Ending: Sendable {
        case ended
        case failed(any Error)
    }
    private let gate: SourceGate<VideoFrame>
    private let traits = Mutex(SourceTraits())
    private let end = Mutex<Ending?>(nil)
    private weak let receiver: (any Receiver)?
    let delivered = FrameMeter()
    private let acceptedFrames = Atomic<Int>(0)
    let drops = DropMeter()

    /// - Parameter lane: Where the source is called.
    init(to receiver: any Receiver, from lane: Lane) {
        self.receiver = receiver
        gate = SourceGate(lane)
    }

    var bufferType: VideoBufferType { traits.withLock { $0.bufferType } }
    var timing: (pacing: MediaPacing, base: MediaTimeBase?) {
        traits.withLock { ($0.pacing, $0.timeBase) }
    }
    var captureType: VideoCaptureType { traits.withLock { $0.captureType } }
    /// Frames that were taken.
    var accepted: Int { acceptedFrames.load(ordering: .relaxed) }

    func adopt(_ traits: SourceTraits) { self.traits.withLock { $0 = traits } }

    // MARK: From start to stop

    /// Frames may come from here on, and wait until ``open()`` or ``close()``.
    func expectStart() {
        _ = takeEnding()
        gate.expectStart()
    }

    func open() { gate.open { self.pass($0) } }

    func close() {
        let lost = gate.close()
        if lost > 0 { drops.note(.notStarted, lost) }
    }

    /// Whether frames come through.
    var isAdmitting: Bool { !gate.isClosed }

    // MARK: The end

    func sourceDidEnd() { end(.ended) }

    func sourceDidFail(_ error: any Error) { end(.failed(error)) }

    private func end(_ ending: Ending) {
        // What a source says after it was stopped is of no interest any more.
        guard isAdmitting else { return }
        // An error of before is let go of outside of the lock.
        _ = end.withLock { end in
            defer { end = ending }
            return end
        }
        receiver?.ended(self)
    }

    /// Whether there is an ending that nobody took.
    var hasEnded: Bool { end.withLock { $0 != nil } }

    /// Takes out how the source ended since it was started; `nil` where it has not, or it was taken.
    func takeEnding() -> Ending? {
        end.withLock { end in
            defer { end = nil }
            return end
        }
    }

    // MARK: Frames

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        delivered.note(frame.format)
        switch gate.enter(frame) {
        case .passes: return pass(frame)
        // Counted when it goes on.
        case .held: return .accepted
        case .refused(let cause): return count(.dropped(cause))
        }
    }

    @discardableResult
    private func pass(_ frame: consuming VideoFrame) -> FrameDisposition {
        count(receiver?.receive(frame, from: self) ?? .notStarted)
    }

    private func count(_ disposition: FrameDisposition) -> FrameDisposition {
        switch disposition {
        case .accepted: acceptedFrames.add(1, ordering: .relaxed)
        case .dropped(let cause): drops.note(cause)
        }
        return disposition
    }

    func refuse(_ cause: DropCause, _ format: VideoFormat) -> FrameDisposition {
        delivered.note(format)
        return count(.dropped(cause))
    }
}
