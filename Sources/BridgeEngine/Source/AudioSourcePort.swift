internal import MediaCore
internal import Synchronization

/// The consumer that an engine gives to a source of sound: the gate that is open from start to stop, and
/// the count of what came when it was not. The twin of `VideoSourcePort`. Thread: any.
final class AudioSourcePort: AudioFrameConsumer {
    /// Where frames go on.
    protocol Receiver: AnyObject, Sendable {
        func receive(_ frame: consuming AudioFrame, from port: AudioSourcePort) -> FrameDisposition
        /// ``takeEndings()`` says how.
        func ended(_ port: AudioSourcePort)
        /// Counts the frames of all ports.
        var sources: AudioFlowMeter { get }
    }
    private struct Traits {
        var pacing = MediaPacing.source
        var base: MediaTimeBase?
    }
    private let gate: SourceGate<AudioFrame>
    private let traits = Mutex(Traits())
    /// Kept until the engine asks: the end may come before the start has returned.
    private let endings = Mutex<[VideoSourcePort.Ending]>([])
    /// A source that ends again and again fills no memory.
    private static let mostEndings = 8
    private weak let receiver: (any Receiver)?
    /// Of all ports that the receiver ever had.
    private let meter: AudioFlowMeter

    /// - Parameter executor: Where the source is called.
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

    /// Frames may come from here on, and wait until ``open()`` or ``close()``.
    func expectStart() {
        endings.withLock { $0 = [] }
        gate.expectStart()
    }

    func open() { gate.open { self.pass($0) } }

    func close() {
        let lost = gate.close()
        if lost > 0 { meter.drops.note(.notStarted, lost) }
    }

    /// Whether frames come through.
    var isAdmitting: Bool { !gate.isClosed }

    func sourceDidEnd() { end(.ended) }

    func sourceDidFail(_ error: any Error) { end(.failed(error)) }

    private func end(_ ending: VideoSourcePort.Ending) {
        // What a source says after it was stopped is of no interest any more.
        guard isAdmitting else { return }
        endings.withLock { if $0.count < Self.mostEndings { $0.append(ending) } }
        receiver?.ended(self)
    }

    /// Takes out how the source ended since it was started, as far as that was not taken before.
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
        // Counted when it goes on.
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
