internal import MediaCore
internal import Synchronization

/// The consumer that an engine gives to a video source: a gate that is open from start to stop, and
/// counts of the frames that arrived while it was closed.
///
/// Safe to use as long as it is referenced, even after its source was disposed of. Thread: any.
final class VideoSourcePort: VideoFrameConsumer {
    /// Receives the frames that pass the gate.
    protocol Receiver: AnyObject, Sendable {
        func receive(_ frame: consuming VideoFrame, from port: VideoSourcePort) -> SourceReceipt
        /// Counts the frames of all ports of this receiver.
        var sources: SourceMeter { get }
        /// The source has ended; ``VideoSourcePort/takeEnding()`` returns how.
        func ended(_ port: VideoSourcePort)
    }
    /// How a source ended.
    enum Ending: Sendable {
        case ended
        case failed(any Error)
    }
    private let gate: SourceGate<VideoFrame>
    private let traits = Mutex(SourceTraits())
    private let end = Mutex<Ending?>(nil)
    private weak let receiver: (any Receiver)?
    /// Counts for this port, and over all ports that its receiver ever had.
    private let (own, all): (SourceMeter, SourceMeter)

    /// - Parameter executor: The executor on which the source is called.
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
    /// The number of frames that arrived.
    var delivered: Int { own.delivered.frames }
    /// The number of frames that were accepted.
    var accepted: Int { own.accepted }

    func adopt(_ traits: SourceTraits) { self.traits.withLock { $0 = traits } }

    // MARK: From start to stop

    /// Prepares for the start: frames that arrive from now on wait until ``open()`` or ``close()``.
    func expectStart() {
        _ = takeEnding()
        gate.expectStart()
    }

    func open() { gate.open { self.pass($0) } }

    func close() {
        let lost = gate.close()
        if lost > 0 { [own, all].forEach { $0.drops.note(.notStarted, lost) } }
    }

    /// Whether frames are accepted: the gate is open, or the source is being started.
    var isAdmitting: Bool { !gate.isClosed }

    // MARK: The end

    func sourceDidEnd() { end(.ended) }

    func sourceDidFail(_ error: any Error) { end(.failed(error)) }

    private func end(_ ending: Ending) {
        // Reports of a source that was stopped are ignored.
        guard isAdmitting else { return }
        // The error of an earlier ending is released outside the lock.
        _ = end.withLock { end in
            defer { end = ending }
            return end
        }
        receiver?.ended(self)
    }

    /// Whether there is an ending that was not taken.
    var hasEnded: Bool { end.withLock { $0 != nil } }

    /// Whether the source ended without an error, and the ending was not taken.
    var cameToItsEnd: Bool {
        end.withLock { if case .ended = $0 { true } else { false } }
    }

    /// Removes and returns how the source ended since it was started; `nil` if it has not ended, or
    /// the ending was taken.
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
        // Counted when it passes.
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
