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
        /// Maximum number of frames that wait in front of the output. `nil`, the default: four for
        /// a live capture; otherwise, as waiting loses nothing and a deeper queue wakes threads
        /// less often, as many as take 64 MB, from four to sixteen. The latter also holds for a
        /// live capture if one output takes both video and audio, because a muxer waits for
        /// whichever comes later. For audio at least 64.
        public var depth: Int?
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

    /// Counts of the frames of one run; of audio, of its buffers, not samples. Behind an encoder of
    /// audio, ``written`` counts what the encoder put out.
    public struct Report: Sendable {
        /// Frames that the sink took.
        public var accepted: Int
        /// Frames that reached the muxer, or the sink element if nothing is muxed, and were not too
        /// late there.
        public var written: Int
        /// Accounts for all frames that came, including refused ones. A frame counts as delivered if it went
        /// on to the output's elements and was not too late for its display. An element of the string may
        /// itself drop or repeat frames (`videorate`), which only ``written`` shows.
        public var balance: FrameBalance
        /// Frames that were not delivered, by cause.
        public var dropped: DropCounts { balance.dropped }
        /// Size in bytes of the output's files; `nil` if it writes none.
        public var bytes: Int?
    }

    let writer: OutputWriter

    init(_ writer: OutputWriter) { self.writer = writer }

    /// - Parameter stream: The name of the appsrc that is written to; without it, the first by name.
    convenience init(
        _ text: String, _ configuration: Configuration, stream: String
    ) throws(PipelineError) {
        let output = try Output(text, configuration: configuration, streams: [stream])
        let names = output.branches.keys.sorted()
        guard let branch = output.branches[stream] ?? output.branches[names[0]]
        else { throw PipelineError(.wrongEnds, message: "no appsrc in: \(text)") }
        self.init(OutputWriter(output, branch, stallTimeout: configuration.stallTimeout))
    }

    /// The pipeline, for its graph, its elements and its messages.
    public final var pipeline: Pipeline { writer.pipeline }

    /// Starts the output. Optional: writing a frame starts it if needed.
    ///
    /// - Throws: ``PipelineError`` if, for example, a file cannot be created, or a display or a
    ///   sound card is missing.
    public final func start() async throws(PipelineError) { try await writer.start() }

    /// Ends the output. On return every frame that it took and did not evict is written, the file is
    /// complete, and the pipeline is at NULL. If the program writes both video and audio, the sink
    /// that finishes last does this.
    ///
    /// - Throws: ``PipelineError`` if the output failed, or refused the format of a frame;
    ///   ``PipelineError/Code/deadlineExceeded`` if nothing is written for
    ///   ``Configuration/stallTimeout``. A recording whose disk filled up is always an error.
    @discardableResult
    public final func finish() async throws(PipelineError) -> Report { try await writer.finish() }

    /// The counts so far.
    public final var statistics: Report { writer.statistics }

    /// Returns the counts of the frames that the output took, for the engine that feeds it.
    package final func frameBalance(of kind: MediaKind) -> FrameBalance { writer.frameBalance }

    package final func queuesAtOnce(_ live: LiveTiming?) -> Bool {
        writer.branch.queuesAtOnce(live)
    }

    // MARK: MediaEndpoint, for an engine's control thread

    /// Starts the output, and blocks until it is started or has failed. Must not be called in a
    /// task, or on the main actor.
    public final func shouldStart() throws { try writer.startAndWait() }

    /// Ends the output as ``finish()`` does, and blocks until it is done. Does not wait for a sink of
    /// the same output that has not begun. Must not be called in a task, or on the main actor.
    ///
    /// - Throws: ``PipelineError`` if the output fails now or has failed before.
    public final func shouldStop() throws { try writer.finishAndWait() }
}
