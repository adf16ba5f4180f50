internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The consumer that an engine gives to a source: a gate that is open from start to stop, and counts
/// of the frames that arrived while it was closed.
///
/// Remains safe to use while referenced, even after its source was disposed of. Thread: any.
final class SourcePort<Media: CountedMedia>: Sendable {
    private let gate: SourceGate<Media.Frame>
    private let adopted = Mutex(SourceTraits())
    /// Stored until the engine takes them: a source may end before its start has returned.
    private let endings = Mutex<[SourceEnding]>([])
    weak let receiver: (any SourceReceiver<Media>)?
    /// Counts the frames of all ports that the receiver ever had.
    private let meter: FlowMeter<Media>
    /// Counts the frames of this port that were accepted.
    private let acceptedFrames = RateMeter()
    private let liveness = Atomic<Bool>(false)

    /// - Parameter executor: The executor on which the source is called.
    init(to receiver: any SourceReceiver<Media>, from executor: SerialQueueExecutor) {
        self.receiver = receiver
        meter = receiver.sources
        gate = SourceGate(executor, receiver.clock.timeline)
    }

    /// The properties of the source.
    var traits: SourceTraits { adopted.withLock { $0 } }
    /// Whether the last frame was live.
    var isLive: Bool { liveness.load(ordering: .relaxed) }
    /// The number of frames that were accepted.
    var accepted: Int { acceptedFrames.frames }

    func adopt(_ traits: SourceTraits) { adopted.withLock { $0 = traits } }

    // MARK: From start to stop

    /// Prepares for the start: frames that arrive from now on wait until ``open()`` or ``close()``.
    func expectStart() {
        _ = takeEndings()
        gate.expectStart()
    }

    func open() { gate.open { self.pass($0) } }

    func close() {
        let lost = gate.close()
        if lost > 0 { meter.drops.note(.notStarted, lost) }
    }

    /// Whether frames are accepted: the gate is open, or the source is being started.
    var isAdmitting: Bool { !gate.isClosed }

    // MARK: The end

    func sourceDidEnd() { end(.ended) }

    func sourceDidFail(_ error: any Error) { end(.failed(error)) }

    private func end(_ ending: SourceEnding) {
        // Reports of a source that was stopped are ignored.
        guard isAdmitting else { return }
        endings.withLock { if $0.count < SourceEnding.most { $0.append(ending) } }
        receiver?.ended(self)
    }

    /// Whether an ending has not been taken yet.
    var hasEnded: Bool { endings.withLock { !$0.isEmpty } }

    /// Whether the source ended without an error, and the ending has not been taken yet.
    var isComplete: Bool {
        endings.withLock { if case .ended = $0.last { true } else { false } }
    }

    /// Removes and returns the endings that the source has reported since it was started, except
    /// those taken before.
    func takeEndings() -> [SourceEnding] { endings.exchange([]) }

    // MARK: Frames

    @discardableResult
    func consume(_ frame: consuming Media.Frame) -> FrameDisposition {
        meter.offered.note(frame)
        guard !frame.isEmpty else { return count(.dropped(.badSize)) }
        switch gate.enter(frame) {
        case .passes: return pass(frame)
        // Counted when it passes the gate.
        case .held: return .accepted
        case .refused(let cause):
            receiver?.missed(from: self)
            return count(.dropped(cause))
        }
    }

    @discardableResult
    private func pass(_ frame: consuming Media.Frame) -> FrameDisposition {
        liveness.store(frame.liveTiming != nil, ordering: .relaxed)
        return count(receiver?.receive(frame, from: self) ?? .dropped(.notStarted))
    }

    private func count(_ receipt: SourceReceipt) -> FrameDisposition {
        if receipt.disposition.isAccepted { acceptedFrames.note() }
        meter.note(receipt)
        return receipt.disposition
    }
}

typealias VideoSourcePort = SourcePort<VideoMedia>
typealias AudioSourcePort = SourcePort<AudioMedia>

extension SourcePort: VideoFrameConsumer where Media == VideoMedia {
    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        consume(.picture(consume frame))
    }

    @discardableResult
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { consume(.unit(unit)) }

    /// Counts a picture that is dropped before it is a frame.
    func refuse(_ cause: DropCause, _ size: VideoSize) -> FrameDisposition {
        meter.offered.note(size)
        return count(.dropped(cause))
    }
}

extension SourcePort: AudioFrameConsumer where Media == AudioMedia {}

/// A track: it receives the frames that pass a port's gate.
protocol SourceReceiver<Media>: AnyObject, Sendable {
    associatedtype Media: CountedMedia
    var clock: EngineClock { get }
    /// Counts the frames of all ports of this receiver.
    var sources: FlowMeter<Media> { get }
    var entrance: TrackEntrance<Media> { get }
    /// The id of the track in events.
    var mediaTrackID: MediaTrackID { get }
    func receive(_ frame: consuming Media.Frame, from port: SourcePort<Media>) -> SourceReceipt
    /// A frame of the source did not pass the port's gate.
    func missed(from port: SourcePort<Media>)
    /// The source has ended; ``SourcePort/takeEndings()`` returns how.
    func ended(_ port: SourcePort<Media>)
    /// Makes this source the only active one from now on; `nil` for none.
    func listen(to port: SourcePort<Media>?)
    /// Sets whether a source may be blocked by slow sinks.
    func setMayBlock(_ mayBlock: Bool)
    /// Returns when the frames that the source has delivered are processed, or after `limit`.
    func settled(within limit: Duration) async
}

extension SourceReceiver {
    func missed(from port: SourcePort<Media>) {}

    func settled(within limit: Duration) async {}

    func isListening(to port: SourcePort<Media>) -> Bool { entrance.isListening(to: port) }

    /// Unblocks the source's thread: a held frame is released, and frames that find a sink's queue
    /// full are dropped.
    func stopBlocking() {
        entrance.releaseHeldFrame()
        setMayBlock(false)
    }
}

/// What a track reports to the engine, in order, on any thread.
enum SourceEvent<Media: CountedMedia>: Sendable {
    /// The source has become active with its first frame.
    case becameActive(SourcePort<Media>)
    case ended(SourcePort<Media>)
    /// A receiver of the units needs a key frame.
    case keyFrameNeeded
    /// The limit of the receivers and the network has changed.
    case limitChanged(VideoLimit)
}

/// How a source ended.
enum SourceEnding: Sendable {
    case ended
    case failed(any Error)

    /// Bounds the memory for a source that reports its end repeatedly.
    fileprivate static let most = 8
}

/// The properties that a source returned when it was queried.
struct SourceTraits: Sendable {
    var bufferType = VideoBufferType.pixelBuffer
    var captureType = VideoCaptureType.unknown
    var contentHint = VideoContentHint.unspecified
    var needsPacing = false
    var timeBase: MediaTimeBase?
}

// MARK: Raw data

// The frame delivery methods of the RTC SDKs.
extension SourcePort where Media == VideoMedia {
    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        guard traits.bufferType == .pixelBuffer else {
            return refuse(.wrongBufferType, pixelBuffer.size)
        }
        return consume(VideoFrame(pixelBuffer.storage, runningTime: time, rotation: rotation))
    }

    @discardableResult
    func consumeRawData(
        _ rawData: RawSpan, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, strideInPixels: Int?, rotation: VideoRotation
    ) -> FrameDisposition {
        guard traits.bufferType == .rawData else { return refuse(.wrongBufferType, size) }
        // Refuses before copying.
        guard isAdmitting else { return refuse(.notStarted, size) }
        do throws(RawPicture.Refusal) {
            let copy = try RawPicture.copy(rawData, format, size, strideInPixels: strideInPixels)
            return consume(VideoFrame(copy, runningTime: time, rotation: rotation))
        } catch { return refuse(error.cause, size) }
    }
}

// MARK: The gate

/// Passes a source's frames from start to stop. Frames that arrive while the start is running wait
/// for its result: the first few are stored, for further ones the delivering thread blocks.
///
/// Thread: any.
final class SourceGate<Frame: Sendable>: Sendable {
    /// The result for a frame that arrives.
    enum Entry {
        case passes
        /// Stored until the result of the start is known.
        case held
        case refused(DropCause)
    }
    private enum Phase {
        case closed
        /// The start is running.
        case deciding
        /// The start succeeded; stored frames are passed on first.
        case emptying
        case open
    }
    private struct State {
        var phase = Phase.closed
        var held: [Frame] = []
        var waiting: [MonotonicSignal] = []
    }
    private let state = Mutex(State())
    private let isOpenNow = Atomic<Bool>(false)
    private let executor: SerialQueueExecutor
    private let timeline: any Timeline
    /// Passes stored frames on, so that a start does not wait until they are due.
    private let outlet = SerialQueue(label: "mediabridge.gate")
    private static var maximumHeldFrames: Int { 4 }
    private static var decisionTimeout: Duration { .seconds(2).asDefaultDeadline }

    /// - Parameters:
    ///   - executor: The executor on which the source is started.
    ///   - timeline: Measures how long a frame waits for the result of the start.
    init(_ executor: SerialQueueExecutor, _ timeline: any Timeline) {
        (self.executor, self.timeline) = (executor, timeline)
    }

    var isOpen: Bool { isOpenNow.load(ordering: .acquiring) }
    var isClosed: Bool { !isOpen && state.withLock { $0.phase == .closed } }

    /// Prepares for the start, which follows.
    func expectStart() { state.withLock { $0.phase = .deciding } }

    /// The start succeeded: opens the gate.
    ///
    /// - Parameter pass: Receives the stored frames, one by one, on another thread.
    func open(_ pass: @escaping @Sendable (Frame) -> Void) {
        let hasHeld = state.withLock { state in
            guard state.phase == .deciding else { return false }
            state.phase = state.held.isEmpty ? .open : .emptying
            isOpenNow.store(state.held.isEmpty, ordering: .releasing)
            return !state.held.isEmpty
        }
        guard hasHeld else { return release() }
        outlet.async { [self] in
            while let frame = nextHeld() { pass(frame) }
            release()
        }
    }

    private func nextHeld() -> Frame? {
        state.withLock { state in
            guard state.phase == .emptying else { return nil }
            if !state.held.isEmpty { return state.held.removeFirst() }
            state.phase = .open
            isOpenNow.store(true, ordering: .releasing)
            return nil
        }
    }

    /// Closes the gate and discards the stored frames.
    ///
    /// - Returns: The number of discarded frames.
    func close() -> Int {
        // Frames are released outside the lock, because that may run their creator's code.
        let lost = state.withLock { state in
            isOpenNow.store(false, ordering: .releasing)
            state.phase = .closed
            defer { state.held = [] }
            return state.held
        }
        release()
        return lost.count
    }

    private func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }

    /// Decides about a frame. Blocks while the start is running and enough frames are stored.
    func enter(_ frame: Frame) -> Entry {
        if isOpen { return .passes }
        let deadline = timeline.now + Self.decisionTimeout
        var isOverdue = false
        while true {
            let signal = MonotonicSignal()
            let entry = state.withLock { state -> Entry? in
                switch state.phase {
                case .closed: return .refused(.notStarted)
                case .open: return .passes
                case .deciding where state.held.count < Self.maximumHeldFrames:
                    state.held.append(frame)
                    return .held
                // The start itself delivers frames, or does not return: waiting would not help.
                case .deciding where isOverdue || executor.isCurrent: return .refused(.queueFull)
                case .deciding, .emptying:
                    state.waiting.append(signal)
                    return nil
                }
            }
            if let entry { return entry }
            if isOverdue {
                signal.wait()
            } else {
                isOverdue = !signal.wait(for: deadline - timeline.now, on: timeline)
            }
        }
    }
}
