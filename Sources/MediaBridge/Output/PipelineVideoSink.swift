internal import MediaBasics
internal import Synchronization

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
public final class PipelineVideoSink: VideoSink, VideoFrameConsumer, FrameBalanceReporting {
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
        /// take 64 MB, from four to sixteen; so, too, where one file takes
        /// pictures and sound, because a muxer waits for whichever comes later.
        public var depth: Int?
        /// Default ``WhenFull/automatic``.
        public var whenFull = WhenFull.automatic
        /// Default ``TimeOrigin/automatic``.
        public var timeOrigin = TimeOrigin.automatic
        /// How long ``PipelineVideoSink/finish()`` waits without a frame being written. Default 10 s.
        public var patience = Duration.seconds(10).asDefaultDeadline
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
        /// Frames that came, refused ones included; those that went on to the output's elements and were
        /// not too late for its display; and what became of the others. An element of the string may drop
        /// or repeat frames of its own accord (`videorate`), which ``written`` shows.
        public var balance: FrameBalance
        /// Frames that were not delivered, by cause.
        public var dropped: DropCounts { balance.dropped }
        /// Bytes in the files of the output; `nil` where it writes none.
        public var bytes: Int?
    }

    private let writer: OutputWriter
    private let twin = Mutex(Twin())

    private struct Twin {
        weak var sink: PipelineAudioSink?
    }

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
        writer = OutputWriter(output, branch, patience: configuration.patience)
    }

    /// The sound of the same output, where the string has an appsrc named `audio`; otherwise `nil`.
    ///
    /// Both are one pipeline, and one file: it starts with the first of them that starts, and is complete
    /// when both have finished. Once asked for and held, the sound has to be written, too: a muxer waits
    /// for it. A stream that was not asked for is ended at the start.
    public var audio: PipelineAudioSink? {
        guard let branch = writer.output.branches[BridgedText.audioBranch],
            branch !== writer.branch
        else { return nil }
        return twin.withLock { twin in
            if let sink = twin.sink { return sink }
            let sink = PipelineAudioSink(
                OutputWriter(writer.output, branch, patience: writer.patience))
            twin.sink = sink
            return sink
        }
    }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { writer.pipeline }

    // MARK: Writing

    /// Starts the output. ``write(_:)`` does it by itself.
    ///
    /// - Throws: ``PipelineError``: a file that cannot be made, a display that is not there.
    public func start() async throws(PipelineError) { try await writer.start() }

    /// Hands a frame over; suspends, and blocks no thread, while the queue is full.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, or why it does not take this frame.
    public func write(_ frame: VideoFrame) async throws {
        try await writer.write("\(frame)") { try await writer.branch.write(frame) }
    }

    /// Hands a frame over from a thread that is not a task: a streaming thread, say. Blocks while the
    /// queue is full, unless the oldest frame gives way (``WhenFull``).
    @discardableResult
    public func consume(_ frame: VideoFrame) -> FrameDisposition {
        writer.branch.consume(frame)
    }

    /// Ends the output: every frame it took is written, the file is complete, the pipeline is at NULL.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, now or before. A recording whose disk
    ///   filled up is never called a success.
    @discardableResult
    public func finish() async throws(PipelineError) -> Report { try await writer.finish() }

    /// The counts so far.
    public var statistics: Report { writer.statistics }

    /// For the engine that feeds it.
    public func takenFrames(_ kind: MediaKind) -> FrameBalance { writer.takenFrames }

    // MARK: VideoSink, for an engine's control thread

    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Starts the output, and blocks until it is started or has failed.
    public func shouldStart() throws { try writer.startAndWait() }

    /// Hands a frame over as ``consume(_:)`` does, and throws where it is not taken.
    public func render(_ frame: VideoFrame) throws {
        if case .dropped(let cause) = consume(frame) {
            throw writer.refusal(of: "\(frame)", cause)
        }
    }

    /// Ends the output as ``finish()`` does, and blocks until it is done.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, now or before.
    public func shouldStop() throws { try writer.finishAndWait() }
}
