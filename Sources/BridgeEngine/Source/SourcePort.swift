internal import Dispatch
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
        func ended(_ port: SourcePort)
        func failed(_ port: SourcePort, _ error: any Error)
    }

    private enum Phase {
        case closed
        /// Between the call to start and its success: what comes waits for the outcome.
        case starting([VideoFrame])
        case open
    }
    private struct Gate {
        var phase = Phase.closed
        var waiting: [DispatchSemaphore] = []
    }
    private let gate = Mutex(Gate())
    private let isOpen = Atomic<Bool>(false)
    private let traits = Mutex(SourceTraits())
    private weak let receiver: (any Receiver)?
    let delivered = FrameMeter()
    let accepted = FrameMeter()
    let drops = DropMeter()
    /// How many frames wait for the outcome of a start without making the deliverer wait too.
    private static let patientFrames = 4
    private static let patience = Duration.seconds(2)

    init(to receiver: any Receiver) { self.receiver = receiver }

    var bufferType: VideoBufferType { traits.withLock { $0.bufferType } }
    var pacing: VideoPacing { traits.withLock { $0.pacing } }
    var captureType: VideoCaptureType { traits.withLock { $0.captureType } }

    func adopt(_ traits: SourceTraits) { self.traits.withLock { $0 = traits } }

    // MARK: The gate

    /// Frames may come from here on, and wait until ``open()`` or ``close()``.
    func expectStart() { gate.withLock { $0.phase = .starting([]) } }

    func open() {
        // What waits goes first; more may come while it does.
        while let frames = takeWaiting() {
            for frame in frames { _ = count(receiver?.receive(frame, from: self) ?? .notStarted) }
        }
        release()
    }

    private func takeWaiting() -> [VideoFrame]? {
        gate.withLock { gate in
            guard case .starting(let frames) = gate.phase else { return nil }
            if frames.isEmpty {
                gate.phase = .open
                isOpen.store(true, ordering: .releasing)
                return nil
            }
            gate.phase = .starting([])
            return frames
        }
    }

    func close() {
        let lost = gate.withLock { gate in
            isOpen.store(false, ordering: .releasing)
            defer { gate.phase = .closed }
            if case .starting(let frames) = gate.phase { return frames.count }
            return 0
        }
        if lost > 0 { drops.note(.notStarted, lost) }
        release()
    }

    private func release() {
        let waiting = gate.withLock { gate in
            defer { gate.waiting = [] }
            return gate.waiting
        }
        waiting.forEach { $0.signal() }
    }

    // MARK: VideoFrameConsumer

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        delivered.note(frame.format)
        guard isOpen.load(ordering: .acquiring) else { return consumeClosed(frame) }
        return count(receiver?.receive(frame, from: self) ?? .notStarted)
    }

    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        guard bufferType == .pixelBuffer else {
            return refuse(.wrongBufferType, pixelBuffer.format)
        }
        return consume(VideoFrame(pixelBuffer.storage, runningTime: time, rotation: rotation))
    }

    @discardableResult
    func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        let described = VideoFormat(format, width: size.width, height: size.height)
        guard size.isValid else { return refuse(.badSize, described) }
        guard let planes = try? format.packedPlanes(size) else {
            return refuse(.badFormat, described)
        }
        let bytes = UnsafeRawBufferPointer(
            start: rawData, count: VideoPixelFormat.byteCount(of: planes))
        return consume(
            RawPicture(unsafe: bytes, format: format, size: size), withTimestamp: time,
            rotation: rotation)
    }

    @discardableResult
    func consume(
        _ picture: RawPicture, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        let described = VideoFormat(
            picture.format, width: picture.size.width, height: picture.size.height)
        guard bufferType == .rawData else { return refuse(.wrongBufferType, described) }
        // Nothing is copied for a frame that is not wanted.
        if isShut { return refuse(.notStarted, described) }
        switch picture.copied() {
        case .success(let storage):
            return consume(VideoFrame(storage, runningTime: time, rotation: rotation))
        case .failure(let refusal): return refuse(refusal.cause, described)
        }
    }

    func sourceDidEnd() { receiver?.ended(self) }

    func sourceDidFail(_ error: any Error) { receiver?.failed(self, error) }

    /// Whether frames come through.
    var isAdmitting: Bool { isOpen.load(ordering: .acquiring) || !isShut }

    private var isShut: Bool {
        gate.withLock { gate in
            if case .closed = gate.phase { return true }
            return false
        }
    }

    private func refuse(_ cause: DropCause, _ format: VideoFormat) -> FrameDisposition {
        delivered.note(format)
        return count(.dropped(cause))
    }

    private func count(_ disposition: FrameDisposition) -> FrameDisposition {
        switch disposition {
        case .accepted: accepted.note(VideoFormat(.any, width: 0, height: 0))
        case .dropped(let cause): drops.note(cause)
        }
        return disposition
    }

    /// While the start is not decided, a few frames wait; then their deliverer does.
    private func consumeClosed(_ frame: consuming VideoFrame) -> FrameDisposition {
        let frame = frame
        let deadline = DispatchTime.now() + Self.patience.timeInterval
        while true {
            let room = DispatchSemaphore(value: 0)
            enum Step { case held, wait, open, closed }
            let step = gate.withLock { gate -> Step in
                switch gate.phase {
                case .closed: return .closed
                case .open: return .open
                case .starting(let frames) where frames.count < Self.patientFrames:
                    gate.phase = .starting(frames + [frame])
                    return .held
                case .starting:
                    gate.waiting.append(room)
                    return .wait
                }
            }
            switch step {
            case .held: return .accepted
            case .closed: return count(.notStarted)
            case .open: return count(receiver?.receive(frame, from: self) ?? .notStarted)
            case .wait:
                if room.wait(timeout: deadline) == .timedOut { return count(.queueFull) }
            }
        }
    }
}
