internal import MediaCore
internal import Synchronization

/// The consumer that an engine gives to an audio source: a gate that is open from start to stop,
/// and counts of the frames that arrived while it was closed. The audio counterpart of
/// `VideoSourcePort`. Thread: any.
final class AudioSourcePort: AudioFrameConsumer {
    /// Receives the frames that pass the gate.
    protocol Receiver: AnyObject, Sendable {
        func receive(_ frame: consuming AudioFrame, from port: AudioSourcePort) -> FrameDisposition
        /// The source has ended; ``takeEndings()`` returns how.
        func ended(_ port: AudioSourcePort)
        /// Counts the frames of all ports of this receiver.
        var sources: AudioFlowMeter { get }
    }
    private struct Traits {
        var pacing = MediaPacing.source
        var base: MediaTimeBase?
    }
    private let gate: SourceGate<AudioFrame>
    private let traits = Mutex(Traits())
    /// Stored until the engine takes them: a source may end before its start has returned.
    private let endings = Mutex<[VideoSourcePort.Ending]>([])
    /// Bounds the memory for a source that reports its end repeatedly.
    private static let mostEndings = 8
    private weak let receiver: (any Receiver)?
    /// Counts over all ports that the receiver ever had.
    private let meter: AudioFlowMeter

    /// - Parameter executor: The executor on which the source is called.
    init(to receiver: any Receiver, from executor: SerialQueueExecutor) {
        self.receiver = receiver
        meter = receiver.sources
        gate = SourceGate(executor)
    }

    var timing: (pacing: MediaPacing, base: MediaTimeBase?) {
        traits.withLock { ($0.pacing, $0.base) }
    }

    func adopt(pacing: MediaPacing, base: MediaTimeBase?) {
        traits.withLock { $0 = Traits(pacing: pacing, base: base) }
    }

    // MARK: From start to stop

    /// Prepares for the start: frames that arrive from now on wait until ``open()`` or ``close()``.
    func expectStart() {
        endings.withLock { $0 = [] }
        gate.expectStart()
    }

    func open() { gate.open { self.pass($0) } }

    func close() {
        let lost = gate.close()
        if lost > 0 { meter.drops.note(.notStarted, lost) }
    }

    /// Whether frames are accepted: the gate is open, or the source is being started.
    var isAdmitting: Bool { !gate.isClosed }

    func sourceDidEnd() { end(.ended) }

    func sourceDidFail(_ error: any Error) { end(.failed(error)) }

    private func end(_ ending: VideoSourcePort.Ending) {
        // Reports of a source that was stopped are ignored.
        guard isAdmitting else { return }
        endings.withLock { if $0.count < Self.mostEndings { $0.append(ending) } }
        receiver?.ended(self)
    }

    /// Removes and returns the endings that the source has reported since it was started, except
    /// those taken before.
    func takeEndings() -> [VideoSourcePort.Ending] {
        endings.withLock { endings in
            defer { endings = [] }
            return endings
        }
    }

    // MARK: Frames

    @discardableResult
    func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        meter.offered.note(frame)
        guard frame.sampleCount > 0 else { return count(.badSize) }
        switch gate.enter(frame) {
        case .passes: return pass(frame)
        // Counted when it passes.
        case .held: return .accepted
        case .refused(let cause): return count(.dropped(cause))
        }
    }

    @discardableResult
    private func pass(_ frame: consuming AudioFrame) -> FrameDisposition {
        count(receiver?.receive(frame, from: self) ?? .notStarted)
    }

    private func count(_ disposition: FrameDisposition) -> FrameDisposition {
        switch disposition {
        case .accepted: meter.deliver()
        case .dropped(let cause): meter.drops.note(cause)
        }
        return disposition
    }
}
