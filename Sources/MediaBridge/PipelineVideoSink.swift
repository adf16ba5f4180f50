/// A sink made from a gst-launch string: a display, a file, an encoder, the network.
///
/// ```swift
/// let sink = try PipelineVideoSink("videoconvert ! x264enc ! mp4mux ! filesink location=out.mp4")
/// for try await frame in source.frames() { try await sink.write(frame) }
/// let report = try await sink.finish()
/// ```
///
/// Frames cross without a copy of pixels, and their running time becomes the output's. Started early or
/// late, an output of a live capture is in step with it.
///
/// Thread: any but a GStreamer streaming thread, except for ``consume(_:)``, which any thread may call.
public final class PipelineVideoSink: VideoSink, VideoFrameConsumer {
    /// What a writer meets when the queue is full.
    public enum WhenFull: Sendable {
        /// The oldest gives way to a frame of a live capture; any other writer waits.
        case automatic
        case evictOldest
        case wait
    }

    /// What the output's time zero is.
    public enum TimeOrigin: Sendable {
        /// The first frame of a live capture; for a file, the beginning of the file.
        case automatic
        /// The first frame, in any case: for an output that joins a file in the middle.
        case firstFrame
    }

    /// How an output is fed; the defaults suit displays and files.
    public struct Configuration: Sendable {
        /// Frames that wait in front of the output at most. `nil`: four of a live capture; of anything
        /// else, where waiting loses nothing and a deeper queue wakes threads less often, as many as
        /// take 64 MB, from four to sixteen.
        public var depth: Int?
        /// Default ``WhenFull/automatic``.
        public var whenFull = WhenFull.automatic
        /// Default ``TimeOrigin/automatic``.
        public var timeOrigin = TimeOrigin.automatic
        /// How long ``PipelineVideoSink/finish()`` waits without a frame being written. Default 10 s.
        public var patience = Duration.seconds(10)
        /// What the string may do, where somebody else wrote it; `nil`: anything.
        public var untrusted: UntrustedPolicy?

        public init() {}
    }

    /// What became of the frames of one run.
    public struct Report: Hashable, Sendable {
        /// Frames the sink took.
        public var accepted: Int
        /// Frames that reached the muxer, or the sink element where nothing is muxed, and were not too
        /// late there.
        public var written: Int
        /// Frames that were not delivered, by cause.
        public var dropped: DropCounts
        /// Bytes in the files of the output; `nil` where it writes none.
        public var bytes: Int?
    }

    private let output: Output
    private let branch: OutputBranch
    private let configuration: Configuration

    /// Parses the string. Where it has no appsrc, one is put at its beginning.
    ///
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let output = try Output(text, configuration: configuration)
        let names = output.branches.keys.sorted()
        guard let branch = output.branches[BridgedText.defaultBranch] ?? output.branches[names[0]]
        else { throw PipelineError(.wrongEnds, message: "no appsrc in: \(text)") }
        self.output = output
        self.branch = branch
        self.configuration = configuration
    }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { output.pipeline }

    // MARK: Writing

    /// Starts the output. ``write(_:)`` does it by itself.
    ///
    /// - Throws: ``PipelineError``: a file that cannot be made, a display that is not there.
    public func start() async throws(PipelineError) {
        output.prepare()
        do {
            try await pipeline.setState(.playing)
        } catch {
            output.close()
            // The first error is the one to tell.
            do { try await pipeline.setState(.null) } catch {}
            throw error
        }
    }

    /// Hands a frame over; suspends, and blocks no thread, while the queue is full.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, or why it does not take this frame.
    public func write(_ frame: VideoFrame) async throws {
        if !output.isOpen, pipeline.failure == nil, !pipeline.hasEnded { try await start() }
        let disposition = try await branch.write(frame)
        if case .dropped(let cause) = disposition { throw refusal(of: frame, cause) }
    }

    private func refusal(of frame: VideoFrame, _ cause: DropCause) -> PipelineError {
        if let failure = pipeline.failure ?? branch.formatFailure { return failure }
        switch cause {
        case .noTime:
            return PipelineError(
                .noTime, message: "the frame carries no running time",
                advice: "set VideoFrame.runningTime")
        case .backwards, .early:
            return PipelineError(
                .noTime, message: "the frame \(frame) is due before the one that came before it",
                advice: "write frames in the order of their running time")
        default:
            return PipelineError(
                .invalidState, message: "the output takes no more frames: it was finished, or ended"
            )
        }
    }

    /// Hands a frame over from a thread that is not a task: a streaming thread, say. Blocks while the
    /// queue is full, unless the oldest frame gives way (``WhenFull``).
    @discardableResult
    public func consume(_ frame: VideoFrame) -> FrameDisposition { branch.consume(frame) }

    /// Ends the output: every frame it took is written, the file is complete, the pipeline is at NULL.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, now or before. A recording whose disk
    ///   filled up is never called a success.
    @discardableResult
    public func finish() async throws(PipelineError) -> Report {
        try await output.finish(patience: configuration.patience)
        return statistics
    }

    /// The counts so far.
    public var statistics: Report { output.report(of: branch) }

    // MARK: VideoSink, for an engine's control thread

    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Starts the output, and blocks until it is started or has failed.
    public func shouldStart() throws {
        output.prepare()
        try pipeline.setStateAndWait(.playing)
    }

    /// Hands a frame over as ``consume(_:)`` does, and throws where it is not taken.
    public func render(_ frame: VideoFrame) throws {
        if case .dropped(let cause) = consume(frame) { throw refusal(of: frame, cause) }
    }

    /// Ends the output as ``finish()`` does, and blocks until it is done.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, now or before.
    public func shouldStop() throws {
        try BlockingTask { [self] in
            do { try await finish() } catch { return error }
            return nil
        }.wait()
    }
}
