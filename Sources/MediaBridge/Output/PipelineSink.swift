internal import MediaBasics

/// An output made from a gst-launch string, for video or for audio.
///
/// Thread: any but a GStreamer streaming thread, except for ``shouldStart()`` and ``shouldStop()``,
/// which block.
public class PipelineSink: FrameBalanceReporting, QueueingSink, @unchecked Sendable {  // constants
    /// Which input time is the output's time zero.
    package enum TimeOrigin: Sendable {
        /// The first frame of a live capture; for a file, the beginning of the file.
        case automatic
        /// The first frame, in any case: for an output that joins a file in the middle.
        case firstFrame
    }

    /// How an output is fed; the defaults suit displays and files.
    public struct Configuration: Sendable {
        /// How much may wait in front of the output. `nil`, the default: four frames of a live capture;
        /// otherwise, as waiting loses nothing and a deeper queue wakes threads less often, as many frames
        /// as take 64 MB, from four to sixteen. The latter also holds for a live capture if one output takes
        /// both video and audio, because a muxer waits for whichever comes later. Of audio at least 64
        /// buffers; of encoded media from a live capture 64 MB.
        public var queue: QueueLimit?
        /// What happens to a frame that is consumed while the queue is full. Default `automatic`: a
        /// frame of a live capture evicts the oldest frame; any other waits. A frame that is
        /// written (``PipelineVideoSink/write(_:)-(VideoFrame)``) always waits.
        public var whenFull = WhenFull.automatic
        /// Which input time is the output's time zero. Default `automatic`.
        package var timeOrigin = TimeOrigin.automatic
        /// How long ``PipelineSink/finish()`` waits without a frame being written. Default:
        /// 10 s.
        public var stallTimeout = Duration.seconds(10).asDefaultDeadline
        /// What the string may do, if its author is not trusted. Default `nil`: anything.
        public var untrusted: UntrustedPolicy?

        /// Creates a configuration with the default values.
        public init() {}
    }

    let output: Output
    let branch: OutputBranch
    let stallTimeout: Duration

    init(_ output: Output, _ branch: OutputBranch, stallTimeout: Duration) {
        self.output = output
        self.branch = branch
        self.stallTimeout = stallTimeout
        output.writers.add(branch.name)
    }

    deinit { output.writers.remove(branch.name) }

    /// - Parameter stream: The name of the appsrc that is written to; without it, the first by name.
    convenience init(
        _ text: String, _ configuration: Configuration, stream: String
    ) throws(PipelineError) {
        let output = try Output(text, configuration: configuration, streams: [stream])
        let names = output.branches.keys.sorted()
        guard let branch = output.branches[stream] ?? output.branches[names[0]]
        else { throw PipelineError(.wrongEnds, message: "no appsrc in: \(text)") }
        self.init(output, branch, stallTimeout: configuration.stallTimeout)
    }

    /// The pipeline, for its graph, its elements and its messages.
    public final var pipeline: GStreamer.Pipeline { output.pipeline }

    /// Starts the output. Optional: writing a frame starts it if needed.
    ///
    /// - Throws: ``PipelineError`` if, for example, a file cannot be created, or a display or a
    ///   sound card is missing.
    public final func start() async throws(PipelineError) {
        let isFirst = prepare()
        do {
            // A sink that starts second waits here for the first sink's state change.
            try await pipeline.setState(.playing)
        } catch {
            output.close()
            // The first error is the one to report.
            do { try await pipeline.setState(.null) } catch {}
            throw error
        }
        if isFirst { endUnwritten() }
    }

    /// Ends the output. On return every frame that it took and did not evict is written, the file is
    /// complete, and the pipeline is at NULL. If the program writes both video and audio, the sink
    /// that finishes last does this.
    ///
    /// - Returns: The counts of the run.
    /// - Throws: ``PipelineError`` if the output failed, or refused the format of a frame;
    ///   ``PipelineError/Code/deadlineExceeded`` if nothing is written for
    ///   ``Configuration/stallTimeout``. A recording whose disk filled up is always an error.
    @discardableResult
    public final func finish() async throws(PipelineError) -> StreamCounts {
        try await finish(awaitsOthers: true)
    }

    /// The counts of the run so far.
    public final var statistics: StreamCounts { output.report(of: branch) }

    /// Returns the counts of the frames that the output took, for the engine that feeds it.
    package final func frameBalance(of kind: MediaKind) -> FrameBalance {
        output.balance(ofTakenBy: branch)
    }

    package final func queuesAtOnce(_ live: LiveTiming?) -> Bool {
        branch.queuesAtOnce(isLive: live != nil)
    }

    // MARK: MediaEndpoint, for an engine's control thread

    /// Starts the output, and blocks until it is started or has failed. Must not be called in a
    /// task, or on the main actor.
    public final func shouldStart() throws(PipelineError) {
        let isFirst = prepare()
        try pipeline.setStateAndWait(.playing)
        if isFirst { endUnwritten() }
    }

    /// Ends the output as ``finish()`` does, and blocks until it is done. Does not wait for a sink of
    /// the same output that has not begun. Must not be called in a task, or on the main actor.
    ///
    /// - Throws: ``PipelineError`` if the output fails now or has failed before.
    public final func shouldStop() throws(PipelineError) {
        // The engine itself starts the sinks that it has.
        _ = try ControlTask.blocking { [self] () async throws(PipelineError) in
            try await finish(awaitsOthers: false)
        }
    }
}

// An output of several branches starts with the first sink that starts, and ends with the last that
// finishes, also if that one has not begun when the others finish.
extension PipelineSink {
    // MARK: Start

    /// Prepares the branch, and the output if it does not run yet.
    ///
    /// - Returns: False if the output runs already; the branch takes frames then.
    private func prepare() -> Bool {
        output.writers.begin(branch.name) {
            guard !output.isOpen else {
                if !branch.isOpen { branch.open() }
                return false
            }
            output.prepare()
            return true
        }
    }

    /// Ends the branches that have no sink, because a muxer would wait for them.
    private func endUnwritten() {
        for (name, other) in output.branches where !output.writers.isExpected(name) {
            other.close()
            other.endOfStream()
        }
    }

    // MARK: Writing

    /// Whether frames may be written without a start.
    private var isStarted: Bool { branch.isOpen && output.writers.isRunning(branch.name) }

    /// Starts the output if it was not started, writes, and throws the reason if the frame is
    /// refused.
    final func write(
        _ frame: some OutputFrame, _ what: @autoclosure () -> String
    ) async throws(PipelineError) {
        if !isStarted, pipeline.failure == nil, !pipeline.hasEnded { try await start() }
        if case .dropped(let cause) = try await branch.write(frame) {
            throw refusal(of: what(), cause)
        }
    }

    /// Writes for an engine, and throws the reason if the frame is refused.
    final func render(
        _ frame: borrowing some OutputFrame, _ what: @autoclosure () -> String
    ) throws(PipelineError) {
        if case .dropped(let cause) = branch.accept(frame) { throw refusal(of: what(), cause) }
    }

    private func refusal(of what: String, _ cause: DropCause) -> PipelineError {
        if let failure = pipeline.failure ?? branch.refusedFormats.reason { return failure }
        switch cause {
        case .noTime:
            return PipelineError(
                .noTime, message: "the frame has no running time",
                advice: "set its runningTime")
        case .backwards, .early, .badTime:
            return PipelineError(
                .noTime, message: "the frame is earlier than the one before it: \(what)",
                advice: "write frames in the order of their running time")
        case .badSize:
            return PipelineError(.streamFailed, message: "the frame is empty: \(what)")
        case .closed, .notStarted:
            return PipelineError(
                .invalidState,
                message: "the output accepts no frames: it was not started, was finished, or ended")
        case .evicted, .queueFull, .notEnabled, .wrongBufferType, .badStride, .undecodable,
            .needsKeyFrame, .late, .badFormat, .processor, .failed, .paused,
            .notConnected, .unwritten, .lost, .muted, .frameRate:
            return PipelineError(
                .streamFailed, message: "the output dropped a frame (\(cause)): \(what)")
        }
    }

    // MARK: End

    /// Ends the branch, and the output if no other writer will.
    ///
    /// - Parameter awaitsOthers: Whether a writer that exists and has not begun is waited for, for
    ///   `stallTimeout` at most.
    private func finish(awaitsOthers: Bool) async throws(PipelineError) -> StreamCounts {
        switch output.writers.finish(branch.name) {
        case .othersRun: endBranch()
        case .othersMayBegin where awaitsOthers && branch.hasTaken:
            endBranch()
            if await !awaitOtherWriters() { try await endOutput() }
        case .othersMayBegin, .isLast: try await endOutput()
        }
        return statistics
    }

    private func endBranch() {
        branch.close()
        branch.endOfStream()
    }

    private func endOutput() async throws(PipelineError) {
        let refused = branch.refusals[.closed]
        let wasStarted = output.writers.hasBegun
        try await output.finish(stallTimeout: stallTimeout)
        await WrappedMemory.settle()
        guard wasStarted || refused == 0 else {
            throw PipelineError(
                .invalidState,
                message: "the output was never started, and \(refused) frames were refused",
                advice: "call start() before the first frame, or use write(_:), which starts it")
        }
    }

    /// Waits until the other writers have begun, or have been released.
    ///
    /// - Returns: Whether another writer began, which then ends the output.
    private func awaitOtherWriters() async -> Bool {
        let (writers, pipeline, name) = (output.writers, pipeline, branch.name)
        _ = await ProgressWait(signal: writers.changes).wait(
            until: { !writers.isAnyAwaited || pipeline.failure != nil || pipeline.hasEnded },
            movement: { 0 }, limits: { [stallTimeout] in .init(standing: stallTimeout) })
        return writers.hasBegun(besides: name)
    }
}
