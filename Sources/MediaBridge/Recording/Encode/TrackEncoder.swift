internal import Synchronization

/// A pipeline of its own that encodes one stream of one format: raw buffers in, units out.
///
/// Units come on the pipeline's streaming thread; whoever takes them may block it, and the queue of raw
/// buffers in front of the encoder then fills: of a live stream the oldest give way, and anything else
/// waits. So a slow disk loses whole pictures, never parts of encoded ones.
final class TrackEncoder: Sendable {
    /// What becomes of a unit, and of the encoder.
    struct Receiver: Sendable {
        /// On the encoder's streaming thread; may block.
        var unit: @Sendable (EncodedUnit) -> Void
        /// No unit follows: the end, or an error. Once.
        var end: @Sendable (PipelineError?) -> Void
    }

    private let output: Output
    private let branch: OutputBranch
    private let units: AppSink
    private let end: Ending

    init(
        _ kind: RecordingKind, recipe: EncoderRecipe, caps: Caps, rotation: VideoRotation,
        receiver: Receiver
    ) throws(PipelineError) {
        var configuration = PipelineVideoSink.Configuration()
        configuration.depth = OutputQueueDepth(asked: nil).of(caps, isLive: false)
        let output = try Output(
            recipe.text(for: caps, rotation: rotation), configuration: configuration)
        guard let branch = output.branches[kind.name],
            let units = output.pipeline.appSinks["units"]
        else { throw PipelineError(.wrongEnds, message: "an encoder without ends") }
        self.output = output
        self.branch = branch
        self.units = units
        units.configure(depth: 4, isPaced: false)
        if kind == .video, let interval = ClockTime(recipe.keyFrameInterval) {
            branch.forceKeyFrames(every: interval)
        }
        let end = Ending(tell: receiver.end)
        self.end = end
        let reader = UnitReader(kind, from: units, hiddenDelay: recipe.hiddenDelay)
        // Until the handlers are removed, sink and handlers hold each other.
        units.setHandlers(
            onSample: {
                if let unit = reader.pull() { receiver.unit(unit) }
                return .ok
            },
            onEnd: { end.tell(nil) })
        output.failsForFormat()
        output.pipeline.onFirstError { end.tell($0) }
    }

    /// Told once.
    private final class Ending: Sendable {
        private let isTold = Atomic<Bool>(false)
        private let receiver: @Sendable (PipelineError?) -> Void

        init(tell: @escaping @Sendable (PipelineError?) -> Void) { receiver = tell }

        func tell(_ error: PipelineError?) {
            guard !isTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
            receiver(error)
        }
    }

    deinit { units.removeHandlers() }

    /// Takes buffers from here on; the pipeline starts behind the caller's back, and tells the receiver
    /// where it cannot.
    func start() {
        output.prepare()
        output.pipeline.requestState(.playing) { [end] error in
            if let error { end.tell(error) }
        }
    }

    /// Hands a raw buffer over.
    ///
    /// - Parameters:
    ///   - time: In the recorder's own time.
    ///   - evicts: Whether the oldest that waits gives way to it where the encoder is slow; otherwise this
    ///     blocks.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime, duration: MediaTime?, evicts: Bool
    ) -> FrameDisposition {
        // What live timing would add is in the time already.
        branch.push(
            buffer, caps: caps, time: time, duration: duration, live: nil, evicts: evicts)
    }

    /// Whether a buffer finds room without anybody waiting or giving way.
    var hasRoom: Bool { branch.hasRoom }

    /// Hands a frame with the recorder's own time over, suspended while the queue is full.
    func write(_ frame: VideoFrame) async throws -> FrameDisposition {
        try await branch.write(frame)
    }

    /// Has the first picture from a time on build on none.
    func forceKeyFrame(from time: MediaTime) {
        if let time = ClockTime(time) { branch.forceKeyFrame(from: time) }
    }

    /// Says that no buffer follows; what is inside still comes.
    func endOfStream() { branch.endOfStream() }

    /// Waits until the last unit was given, and puts the pipeline away.
    ///
    /// - Parameter patience: How long it may take without a unit being given.
    func finish(patience: Duration) async throws(PipelineError) {
        try await output.finish(patience: patience)
    }

    /// Lets go of whoever waits for room.
    func close() { output.close() }

    /// Buffers that gave way, and those refused.
    var drops: DropCounts { branch.drops }
}
