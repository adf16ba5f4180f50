internal import MediaCore
internal import Synchronization

/// The consumer that an engine gives to a source: the gate that is open from start to stop, and the
/// count of what came when it was not.
///
/// Safe to use for as long as anybody holds it, also after its source was disposed of. Thread: any.
final class VideoSourcePort: VideoFrameConsumer {
    /// Where frames go on.
    protocol Receiver: AnyObject, Sendable {
        func receive(_ frame: consuming VideoFrame, from port: VideoSourcePort) -> SourceReceipt
        /// Counts the frames of all ports.
        var sources: SourceMeter { get }
        /// ``VideoSourcePort/ending`` says how.
        func ended(_ port: VideoSourcePort)
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
    /// Of this port, and of all that its receiver ever had.
    private let (own, all): (SourceMeter, SourceMeter)

    /// - Parameter executor: Where the source is called.
    init(to receiver: any Receiver, from executor: SerialQueueExecutor) {
        self.receiver = receiver
        (own, all) = (SourceMeter(), receiver.sources)
        gate = SourceGate(executor)
    }

    var bufferType: VideoBufferType { traits.withLock { $0.bufferType } }
    var timing: (pacing: MediaPacing, base: MediaTimeBase?) {
        traits.withLock { ($0.pacing, $0.timeBase) }
    }
    var captureType: VideoCaptureType { traits.withLock { $0.captureType } }
    /// Frames that came.
    var delivered: Int { own.delivered.frames }
    /// Frames that were taken.
    var accepted: Int { own.accepted }

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
        if lost > 0 { [own, all].forEach { $0.drops.note(.notStarted, lost) } }
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

    /// Whether the source ended by itself, and nobody took that.
    var cameToItsEnd: Bool {
        end.withLock { if case .ended = $0 { true } else { false } }
    }

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
        note(frame.format)
        switch gate.enter(frame) {
        case .passes: return pass(frame)
        // Counted when it goes on.
        case .held: return .accepted
        case .refused(let cause): return count(.dropped(cause))
        }
    }

    private func note(_ format: VideoFormat) {
        own.delivered.note(format)
        all.delivered.note(format)
    }

    @discardableResult
    private func pass(_ frame: consuming VideoFrame) -> FrameDisposition {
        count(receiver?.receive(frame, from: self) ?? .dropped(.notStarted))
    }

    private func count(_ receipt: SourceReceipt) -> FrameDisposition {
        own.note(receipt)
        all.note(receipt)
        return receipt.disposition
    }

    func refuse(_ cause: DropCause, _ format: VideoFormat) -> FrameDisposition {
        note(format)
        return count(.dropped(cause))
    }
}
