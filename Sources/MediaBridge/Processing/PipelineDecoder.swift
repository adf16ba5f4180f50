internal import MediaBasics
internal import Synchronization

/// Decodes access units to pictures in a small pipeline: appsrc, decoder, appsink.
///
/// Pictures are delivered on the pipeline's streaming thread. After an error the pipeline is
/// restarted, and the next unit must be one that references no other. A decoder that fails too often
/// before its first picture gives up; one that has shown a picture never does, because then the
/// stream is at fault.
final class PipelineDecoder: VideoDecoder {
    let codec: VideoCodec
    private let capture: Capture
    private let source: AppSource
    private let ledger: PendingAccessUnits
    private let pictures: DecodedPictures

    private enum Phase {
        case open, closed, stopped

        /// Why no unit is accepted; `nil` if units are.
        var refusal: DropCause? {
            switch self {
            case .open: nil
            case .closed: .undecodable  // between two runs
            case .stopped: .closed
            }
        }
    }
    private struct State {
        var phase = Phase.closed
        var chain = ReferenceChain()
        /// Errors before the first picture.
        var errors = 0
    }
    private let state = Mutex(State())
    let room = MonotonicSignal()
    /// Restarts run on this queue.
    private let control = SerialQueue(label: "mediabridge.decoder")
    /// Maximum number of queued units: half a second of most streams.
    static let depth = 16
    private static let stateDeadline = Duration.seconds(3).asDefaultDeadline
    private static let errorsBeforeAPicture = 8

    /// Blocks until the pipeline runs.
    ///
    /// - Parameter elements: The elements between appsrc and appsink; `nil` to choose an installed
    ///   decoder.
    init(
        _ codec: VideoCodec, elements: String? = nil,
        to consumer: any VideoFrameConsumer
    ) throws(PipelineError) {
        // Not `??`, which loses the type of the thrown error.
        let decoder = if let elements { elements } else { try codec.decoder() }
        let capture = try Capture(
            "appsrc name=units format=time ! \(decoder) "
                + "! appsink name=\(BridgedText.defaultBranch)", depth: 3)
        let element = capture.pipeline.element(named: "units")
        guard let source = element.flatMap({ AppSource($0) }) else {
            throw PipelineError(.wrongEnds, message: "the decoder's pipeline has no appsrc")
        }
        self.codec = codec
        self.capture = capture
        self.source = source
        ledger = try PendingAccessUnits(reordering: codec.row?.reordering ?? 0)
        pictures = DecodedPictures(ledger, to: consumer)
        source.configure(QueueLimit(buffers: Self.depth), dropsOldest: false)
        source.onDeparture { [room] in room.signal() }
        capture.pipeline.onFirstError { [weak self] in self?.failed($0) }
        try start()
    }

    private var branch: CaptureBranch { capture.branches[0] }

    private func start() throws(PipelineError) {
        capture.prepare()
        branch.push(to: pictures)
        try capture.pipeline.setStateAndWait(.playing, deadline: Self.stateDeadline)
        state.withLock { state in
            state.chain = ReferenceChain()
            if state.phase == .closed { state.phase = .open }
        }
        room.signal()
    }

    // MARK: VideoDecoder

    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard unit.codec == codec else { return .dropped(.wrongBufferType) }
        if let refusal = state.withLock({ $0.phase.refusal }) { return .dropped(refusal) }
        let content = unit.content
        guard content != .garbage else { return .dropped(.undecodable) }
        guard !source.isFull else { return .dropped(.queueFull) }
        guard let sample = try? unit.sample(saysSize: false) else { return .dropped(.failed) }
        let references = unit.references
        var own: Buffer? = sample.buffer.retained().withOwnHeader()
        // Under one lock, because a restart and a stop count all pending units as lost. The push does not wait:
        // appsrc queues every buffer.
        return state.withLock { state in
            if let refusal = state.phase.refusal { return .dropped(refusal) }
            guard state.chain.admits(references) else { return .dropped(.needsKeyFrame) }
            guard var buffer = own.take() else { return .dropped(.failed) }
            source.setCaps(sample.caps)
            ledger.enter(unit, givesPicture: content == .picture, in: &buffer)
            guard source.push(buffer) else {
                ledger.withdraw()
                return .dropped(.undecodable)
            }
            return .accepted
        }
    }

    /// Does the same as ``decode(_:)``, but blocks while the queue is full, until ``stop()`` at the latest. One
    /// caller at a time.
    func decodeWaiting(_ unit: EncodedVideoFrame) -> FrameDisposition {
        while true {
            let result = decode(unit)
            guard result == .dropped(.queueFull) else { return result }
            room.wait()
        }
    }

    var lostUnits: Int { ledger.lost }

    var pictureSurplus: Int { ledger.surplus }

    func drain() {
        control.sync {
            guard close() else { return }
            let end = pictures.expectEnd()
            source.endOfStream()
            // A consumer may take as long as it likes for a picture.
            var seen = pictures.count
            while !end.wait(for: Self.stateDeadline), pictures.isDelivering || pictures.count > seen
            {
                seen = pictures.count
            }
            restart()
        }
    }

    func stop() {
        state.withLock { $0.phase = .stopped }
        room.signal()
        pictures.close()
        control.sync {
            branch.discard()
            // If a callback still holds the picture being delivered, the pipeline stays up until it
            // returns.
            _ = try? capture.pipeline.setStateAndWait(.null, deadline: Self.stateDeadline)
            ledger.countPendingAsLost()
        }
    }

    // MARK: Errors

    /// Stops accepting units.
    ///
    /// - Returns: False if no units were being accepted.
    private func close() -> Bool {
        state.withLock { state in
            guard state.phase == .open else { return false }
            state.phase = .closed
            return true
        }
    }

    /// Thread: the one that posts the error.
    private func failed(_ error: PipelineError) {
        pictures.ended()
        guard close() else { return }
        control.async { [self] in
            let givesUp = state.withLock { state in
                state.errors += 1
                return pictures.count == 0 && state.errors > Self.errorsBeforeAPicture
            }
            if givesUp { giveUp(error) } else { restart() }
        }
    }

    /// Thread: the control queue.
    private func restart() {
        guard state.withLock({ $0.phase }) != .stopped else { return }
        do throws(PipelineError) {
            try capture.pipeline.setStateAndWait(.ready, deadline: Self.stateDeadline)
            ledger.countPendingAsLost()
            try start()
        } catch { giveUp(error) }
    }

    private func giveUp(_ error: PipelineError) {
        let isStopped = state.withLock { state in
            defer { state.phase = .stopped }
            return state.phase == .stopped
        }
        guard !isStopped else { return }
        room.signal()
        // On a separate queue: the consumer may call `stop`, which waits for the control queue.
        SerialQueue(label: "mediabridge.failure").async { [pictures] in
            pictures.consumer.sourceDidFail(error)
        }
    }
}

// MARK: Pictures

/// Passes pictures from a decoder's pipeline to the consumer, each with the time and the rotation
/// of its unit.
final class DecodedPictures: MediaReceiver {
    private let ledger: PendingAccessUnits
    let consumer: any VideoFrameConsumer
    private let isClosed = Atomic<Bool>(false)
    private let delivered = Atomic<Int>(0)
    private let isBusy = Atomic<Bool>(false)
    /// Signalled at the end of the run.
    private let ending = Mutex<MonotonicSignal?>(nil)

    init(_ ledger: PendingAccessUnits, to consumer: any VideoFrameConsumer) {
        self.ledger = ledger
        self.consumer = consumer
    }

    /// Stops the delivery to the consumer.
    func close() { isClosed.store(true, ordering: .sequentiallyConsistent) }

    /// Pictures delivered so far.
    var count: Int { delivered.load(ordering: .relaxed) }

    /// Whether the consumer holds a picture at this moment.
    var isDelivering: Bool { isBusy.load(ordering: .relaxed) }

    /// Returns what is signalled at the next end of stream, or at the next error.
    func expectEnd() -> MonotonicSignal {
        let signal = MonotonicSignal()
        ending.withLock { $0 = signal }
        return signal
    }

    /// Called when no more pictures follow in this run.
    func ended() { ending.withLock { $0 }?.signal() }

    func receive(_ frame: consuming VideoFrame) -> FrameDisposition {
        var picture = frame
        // A unit whose picture is not delivered stays pending, and the stop counts it as lost.
        guard !isClosed.load(ordering: .sequentiallyConsistent),
            let unit = ledger.unit(of: picture)
        else { return .dropped(.closed) }
        picture.runningTime = unit.time
        picture.rotation = unit.rotation
        picture.liveTiming = unit.live
        // The decoder invented the duration: the stream does not contain one.
        picture.duration = nil
        isBusy.store(true, ordering: .relaxed)
        let disposition = consumer.consume(picture)
        isBusy.store(false, ordering: .relaxed)
        delivered.add(1, ordering: .relaxed)
        return disposition
    }

    func receive(_ sample: MediaSample) -> FrameDisposition { .dropped(.wrongBufferType) }

    func streamEnded(_ end: StreamEnd) { ended() }
}

/// Finds the access unit that a decoded picture belongs to.
///
/// Units are numbered, and the numbers travel through the decoder as timestamps: a unit's own time
/// may be on any clock and may be negative, and decoders invent times if their input times go
/// backwards. Thread: any.
final class PendingAccessUnits: Sendable {
    struct Entry: Sendable {
        let number: Int
        let time: MediaTime
        let rotation: VideoRotation
        let live: LiveTiming?
    }
    private struct State {
        /// Units whose pictures have not come out yet, in the order of their numbers.
        var pending: [Entry] = []
        var next = 0
        var lost = 0
        /// Pictures of no pending unit, less units without a picture.
        var surplus = 0
        var last: Entry?
    }
    private let state = Mutex(State())
    private let reordering: Int
    /// Nanoseconds between the timestamps of two consecutive numbers.
    private static let step: UInt64 = 1_000_000

    /// The caps of the reference timestamp that carries a unit's number in its buffer.
    private let reference: Caps

    /// - Parameter reordering: The maximum number of units by which a picture may be late.
    init(reordering: Int) throws(PipelineError) {
        self.reordering = reordering
        reference = try Caps("timestamp/x-mediabridge-unit")
    }

    /// Registers a unit and numbers it.
    ///
    /// - Parameter buffer: Its presentation time and a reference timestamp are set to the number.
    func enter(
        _ unit: EncodedVideoFrame, givesPicture: Bool, in buffer: inout Buffer
    ) {
        let time = unit.runningTime ?? MediaTime(SharedClock.now)
        let number = state.withLock { state in
            let number = state.next
            state.next += 1
            if givesPicture {
                let entry = Entry(
                    number: number, time: time, rotation: unit.rotation, live: unit.liveTiming)
                state.pending.append(entry)
            } else {
                state.surplus -= 1
            }
            return number
        }
        let stamp = ClockTime(nanoseconds: UInt64(number) * Self.step)
        buffer.presentationTime = stamp
        buffer.addReferenceTime(stamp, of: reference)
    }

    /// Undoes the last ``enter(_:givesPicture:in:)``, because the unit was not pushed.
    func withdraw() {
        state.withLock { state in
            state.next -= 1
            if state.pending.last?.number == state.next {
                state.pending.removeLast()
            } else {
                state.surplus += 1
            }
        }
    }

    /// Returns the unit of a picture. If it is unknown, because the decoder made the picture up,
    /// returns the unit of the previous picture.
    func unit(of picture: VideoFrame) -> Entry? {
        // Some decoders drop the reference timestamp; the presentation time is used instead.
        let reference = (picture.storage as? BufferFrameStorage)?
            .buffer.referenceTime(of: self.reference).map { MediaTime($0) }
        let number = (reference ?? picture.runningTime).map {
            Int($0.nanoseconds / Int64(Self.step))
        }
        return state.withLock { state in
            guard let place = state.pending.firstIndex(where: { $0.number == number }) else {
                if state.last != nil { state.surplus += 1 }
                return state.last
            }
            let found = state.pending.remove(at: place)
            state.last = found
            // Units overtaken by more than `reordering` others will not give a picture any more.
            let late = state.pending.prefix { $0.number < found.number - reordering }
            state.lost += late.count
            state.pending.removeFirst(late.count)
            return found
        }
    }

    /// Counts all pending units as lost.
    func countPendingAsLost() {
        state.withLock { state in
            state.lost += state.pending.count
            state.pending = []
        }
    }

    var lost: Int { state.withLock { $0.lost } }

    var surplus: Int { state.withLock { $0.surplus } }
}
