internal import MediaBasics
internal import Synchronization

/// Decodes access units to pictures in a small pipeline: appsrc, decoder, appsink.
///
/// Pictures are delivered on the pipeline's streaming thread. After an error the pipeline is
/// restarted, and the next unit must be one that references no other. A decoder that fails too often
/// before its first picture gives up; one that has shown a picture never does, because then the
/// stream is at fault.
final class PipelineDecoder: VideoDecoder {
    private let codec: VideoCodec
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
        /// Of the last unit. Retained, so that no other caps can get the same identity.
        var caps: Caps?
    }
    private let state = Mutex(State())
    /// Sent when a unit leaves the queue, and after a restart and the end: ``decode(_:)`` may now
    /// accept a unit that it refused.
    let change = Signal()
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
        let recipe = DecoderRecipe(codec: codec)
        // Not `??`, which loses the type of the thrown error.
        let decoder = if let elements { elements } else { try recipe.decoder() }
        let capture = try Capture(recipe.text(around: decoder), depth: 3)
        let element = capture.pipeline.element(named: DecoderRecipe.sourceName)
        guard let source = element.flatMap({ AppSource($0) }) else {
            throw PipelineError(.wrongEnds, message: "the decoder's pipeline has no appsrc")
        }
        self.codec = codec
        self.capture = capture
        self.source = source
        ledger = try PendingAccessUnits(reordering: codec.row?.reordering ?? 0)
        pictures = DecodedPictures(ledger, to: consumer)
        source.configure(depth: Self.depth, dropsOldest: false)
        source.onDeparture { [change, room] in
            change.signal()
            room.signal()
        }
        capture.pipeline.onFirstError { [weak self] in self?.failed($0) }
        try start()
    }

    private var branch: CaptureBranch { capture.branches[0] }

    private func signal() {
        change.signal()
        room.signal()
    }

    private func start() throws(PipelineError) {
        capture.prepare()
        branch.push(to: pictures)
        try capture.pipeline.setStateAndWait(.playing, deadline: Self.stateDeadline)
        state.withLock { state in
            state.chain = ReferenceChain()
            if state.phase == .closed { state.phase = .open }
        }
        signal()
    }

    // MARK: VideoDecoder

    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard unit.codec == codec else { return .wrongBufferType }
        if let refusal = state.withLock({ $0.phase.refusal }) { return .dropped(refusal) }
        let content = unit.content
        guard content != .garbage else { return .dropped(.undecodable) }
        guard source.queuedBuffers < Self.depth else { return .queueFull }
        guard let sample = try? unit.sample(saysSize: false) else { return .dropped(.failed) }
        let references = unit.references
        var own: Buffer? = sample.buffer.retained().withOwnHeader()
        // Under one lock, because a restart and a stop count all pending units as lost. The push does not wait:
        // appsrc queues every buffer.
        return state.withLock { state in
            if let refusal = state.phase.refusal { return .dropped(refusal) }
            guard state.chain.admits(references) else { return .dropped(.needsKeyFrame) }
            guard var buffer = own.take() else { return .dropped(.failed) }
            if state.caps?.identity != sample.caps.identity {
                state.caps = sample.caps
                source.setCaps(sample.caps)
            }
            ledger.enter(unit, givesPicture: content == .picture, in: &buffer)
            guard source.push(buffer) == .ok else {
                ledger.withdraw()
                return .dropped(.undecodable)
            }
            return .accepted
        }
    }

    /// Does the same as ``decode(_:)``, but suspends while the queue is full. One caller at a time.
    func decodeInTurn(_ unit: EncodedVideoFrame) async -> FrameDisposition {
        while true {
            let result = decode(unit)
            guard result == .queueFull, !Task.isCancelled else { return result }
            await change.wait()
        }
    }

    /// Does the same as ``decode(_:)``, but blocks while the queue is full, until ``stop()`` at the latest. One
    /// caller at a time.
    func decodeWaiting(_ unit: EncodedVideoFrame) -> FrameDisposition {
        while true {
            let result = decode(unit)
            guard result == .queueFull else { return result }
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
        signal()
        pictures.close()
        control.sync {
            branch.discard()
            // If a callback still holds the picture being delivered, the pipeline stays up until it
            // returns.
            _ = try? capture.pipeline.setStateAndWait(.null, deadline: Self.stateDeadline)
            ledger.loseRest()
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
            let isHopeless = state.withLock { state in
                state.errors += 1
                return pictures.count == 0 && state.errors > Self.errorsBeforeAPicture
            }
            if isHopeless { giveUp(error) } else { restart() }
        }
    }

    /// Thread: the control queue.
    private func restart() {
        guard state.withLock({ $0.phase }) != .stopped else { return }
        do throws(PipelineError) {
            try capture.pipeline.setStateAndWait(.ready, deadline: Self.stateDeadline)
            ledger.loseRest()
            try start()
        } catch { giveUp(error) }
    }

    private func giveUp(_ error: PipelineError) {
        let isStopped = state.withLock { state in
            defer { state.phase = .stopped }
            return state.phase == .stopped
        }
        guard !isStopped else { return }
        signal()
        // On a separate queue: the consumer may call `stop`, which waits for the control queue.
        SerialQueue(label: "mediabridge.failure").async { [pictures] in
            pictures.consumer.sourceDidFail(error)
        }
    }
}
