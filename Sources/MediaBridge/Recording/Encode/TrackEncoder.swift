internal import MediaBasics
internal import Synchronization

/// A pipeline that encodes one stream of one format: raw buffers in, encoded units out. Where a stream
/// comes encoded, it only parses: units in, units out.
///
/// Units are delivered on the pipeline's streaming thread, which the receiver may block. The queue
/// of raw buffers in front of the encoder then fills up: for a live stream the oldest buffers are
/// evicted, any other caller waits. So a slow disk drops whole pictures, never parts of encoded
/// ones.
final class TrackEncoder: Sendable {
    /// Receives the units and the end of an encoder.
    struct Receiver: Sendable {
        /// Measures when units arrive.
        let clock: any Timeline
        /// Called on the encoder's streaming thread; may block.
        var unit: @Sendable (EncodedUnit) -> Void
        /// Called once, at the end or after an error: no unit follows.
        var end: @Sendable (PipelineError?) -> Void
    }

    private let output: Output
    private let branch: OutputBranch
    private let units: AppSink
    private let end: Ending

    init(
        _ kind: RecordingKind, recipe: UnitPipeline, caps: Caps, receiver: Receiver
    ) throws(PipelineError) {
        var configuration = PipelineVideoSink.Configuration()
        configuration.depth =
            recipe.isCopy
            ? QueueDepth.copied
            : OutputQueueDepth(asked: nil).limit(for: caps, isLive: false).buffers
        let output = try Output(recipe.text, configuration: configuration)
        guard let branch = output.branches[kind.name],
            let units = output.pipeline.appSinks["units"]
        else {
            throw PipelineError(
                .wrongEnds, message: "the encoder's pipeline has no appsrc or no appsink")
        }
        self.output = output
        self.branch = branch
        self.units = units
        units.configure(depth: 4, isPaced: false)
        if let interval = recipe.keyFrameInterval.flatMap({ ClockTime($0) }) {
            branch.forceKeyFrames(every: interval)
        }
        let end = Ending(tell: receiver.end)
        self.end = end
        let reader = UnitReader(
            kind, from: units, hiddenDelay: recipe.hiddenDelay, isCopy: recipe.isCopy,
            clock: receiver.clock)
        // The sink and its handlers retain each other until the handlers are removed.
        units.setHandlers(
            onSample: {
                if let unit = reader.pull() { receiver.unit(unit) }
                return .ok
            },
            onEnd: { end.tell(nil) })
        output.failsForFormat()
        output.pipeline.onFirstError { end.tell($0) }
    }

    /// Reports the end once.
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

    /// Accepts buffers from here on. The pipeline starts asynchronously; if it cannot, the receiver
    /// gets the error.
    func start() {
        output.prepare()
        output.pipeline.requestState(.playing) { [end] error in
            if let error { end.tell(error) }
        }
    }

    /// Pushes a buffer.
    ///
    /// - Parameters:
    ///   - time: The buffer's time in the recorder's own time.
    ///   - evicts: Whether the oldest queued buffer is evicted if the encoder is slow; otherwise
    ///     this blocks.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime, duration: MediaTime?, evicts: Bool
    ) -> FrameDisposition {
        // `time` already includes the live timing.
        branch.push(
            buffer, caps: caps, time: time, duration: duration, live: nil, evicts: evicts)
    }

    /// Whether a buffer is accepted without blocking and without an eviction.
    var hasRoom: Bool { branch.hasRoom && branch.waitingBytes < Self.mostBytes }

    /// Suspends until a buffer is accepted without blocking, or until the encoder is closed.
    func untilRoom() async throws { try await branch.untilRoom() }

    /// The size of what may wait, in bytes: pictures of 4K in JPEG are megabytes each.
    private static let mostBytes = 64_000_000

    /// Pushes a frame that has the recorder's own time; suspends while the queue is full.
    func write(_ frame: VideoFrame) async throws -> FrameDisposition {
        try await branch.write(frame)
    }

    /// Makes the first picture from a time on a key frame.
    func forceKeyFrame(from time: MediaTime) {
        if let time = ClockTime(time) { branch.forceKeyFrame(from: time) }
    }

    /// Signals the end of the stream; units still inside the encoder are delivered.
    func endOfStream() { branch.endOfStream() }

    /// Waits until the last unit was delivered, and shuts the pipeline down.
    ///
    /// - Parameter stallTimeout: The longest time without a unit being delivered.
    func finish(stallTimeout: Duration) async throws(PipelineError) {
        try await output.finish(stallTimeout: stallTimeout)
    }

    /// Unblocks callers that wait for room.
    func close() { output.close() }

    /// Buffers that were evicted or refused.
    var drops: DropCounts { branch.drops }
}
