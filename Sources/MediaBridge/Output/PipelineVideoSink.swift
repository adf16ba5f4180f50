internal import MediaBasics
internal import Synchronization

/// A video sink made from a gst-launch string: a display, a file, an encoder, the network.
///
/// ```swift
/// let sink = try PipelineVideoSink("videoconvert ! x264enc ! mp4mux ! filesink location=out.mp4")
/// for try await frame in source.frames() { try await sink.write(frame) }
/// let report = try await sink.finish()
/// ```
///
/// Pixels are copied only where they are converted, because the string does not take their format.
/// Times in the output follow from the frames' running times: time zero is the beginning of a file, or the
/// first frame of a live capture. An output of a live capture is in sync with it, whether it is started early
/// or late.
///
/// Thread: any but a GStreamer streaming thread, except for ``consume(_:)-(VideoFrame)``, which any thread may
/// call, and for ``shouldStart()`` and ``shouldStop()``, which block.
public final class PipelineVideoSink: VideoSink, VideoFrameConsumer, FrameBalanceReporting,
    QueueingSink
{
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
        /// How long ``PipelineVideoSink/finish()`` waits without a frame being written. Default:
        /// 10 s.
        public var stallTimeout = Duration.seconds(10).asDefaultDeadline
        /// What the string may do, if its author is not trusted. Default `nil`: anything.
        public var untrusted: UntrustedPolicy?

        /// Creates a configuration with the default values.
        public init() {}
    }

    /// Counts of the frames of one run.
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

    private let writer: OutputWriter
    private let audioPart = Mutex(AudioPart())

    private struct AudioPart {
        weak var sink: PipelineAudioSink?
    }

    /// Parses the string. If it has no appsrc, one is added at its beginning.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message.
    public init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let output = try Output(text, configuration: configuration)
        let names = output.branches.keys.sorted()
        guard let branch = output.branches[BridgedText.defaultBranch] ?? output.branches[names[0]]
        else { throw PipelineError(.wrongEnds, message: "no appsrc in: \(text)") }
        writer = OutputWriter(output, branch, stallTimeout: configuration.stallTimeout)
    }

    /// The audio of the same output; `nil` if the string has no appsrc named `audio`.
    ///
    /// Both sinks share one pipeline and one file: it starts with the first sink that starts, and
    /// is complete when both have finished. While the program holds the audio sink, audio has to be
    /// written, too: a muxer waits for it, and ``finish()`` of the video waits for its first frame,
    /// for ``Configuration/stallTimeout`` at most. If the program holds none, the audio stream is
    /// ended at the start.
    public var audio: PipelineAudioSink? {
        guard let branch = writer.output.branches[BridgedText.audioBranch],
            branch !== writer.branch
        else { return nil }
        return audioPart.withLock { audioPart in
            if let sink = audioPart.sink { return sink }
            let sink = PipelineAudioSink(
                OutputWriter(writer.output, branch, stallTimeout: writer.stallTimeout))
            audioPart.sink = sink
            return sink
        }
    }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { writer.pipeline }

    // MARK: Writing

    /// Starts the output. Optional: ``write(_:)-(VideoFrame)`` starts it if needed.
    ///
    /// - Throws: ``PipelineError`` if, for example, a file cannot be created or a display is
    ///   missing.
    public func start() async throws(PipelineError) { try await writer.start() }

    /// Writes a frame. Suspends while the queue is full, regardless of ``Configuration/whenFull``; blocks no
    /// thread.
    ///
    /// - Throws: ``PipelineError`` if the output has failed or does not take this frame;
    ///   ``FrameError`` for memory that outputs do not support; `CancellationError` in a task that
    ///   is cancelled while it waits.
    public func write(_ frame: VideoFrame) async throws {
        try await writer.write("\(frame)") { try await writer.branch.write(frame) }
    }

    /// Writes a frame from a thread that runs no task, such as a streaming thread. Blocks while the
    /// queue is full, unless the oldest frame is evicted (``Configuration/whenFull``). Does not start
    /// the output: before ``start()`` frames are dropped as ``DropCause/closed``.
    @discardableResult
    public func consume(_ frame: VideoFrame) -> FrameDisposition {
        writer.branch.consume(frame)
    }

    /// Writes a unit of encoded video to a string that takes its codec, such as
    /// `h264parse ! mp4mux ! filesink location=out.mp4`. Suspends while the queue is full.
    ///
    /// - Throws: What ``write(_:)-(VideoFrame)`` throws.
    public func write(_ unit: EncodedVideoFrame) async throws {
        try await writer.write("encoded \(unit.codec) frame") {
            try await writer.branch.write(unit)
        }
    }

    /// Writes a unit of encoded video as ``consume(_:)-(VideoFrame)`` writes a frame.
    @discardableResult
    public func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
        writer.branch.consume(unit)
    }

    /// Ends the output. On return every frame that it took and did not evict is written, the file is
    /// complete, and the pipeline is at NULL. If the program uses ``audio``, too, the sink that
    /// finishes last does this.
    ///
    /// - Throws: ``PipelineError`` if the output failed, or refused the format of a frame;
    ///   ``PipelineError/Code/deadlineExceeded`` if nothing is written for
    ///   ``Configuration/stallTimeout``. A recording whose disk filled up is always an error.
    @discardableResult
    public func finish() async throws(PipelineError) -> Report { try await writer.finish() }

    /// The counts so far.
    public var statistics: Report { writer.statistics }

    /// Returns the counts of the frames that the output took, for the engine that feeds it.
    package func frameBalance(of kind: MediaKind) -> FrameBalance { writer.frameBalance }

    package func queuesAtOnce(_ live: LiveTiming?) -> Bool { writer.branch.queuesAtOnce(live) }

    // MARK: VideoSink, for an engine's control thread

    /// Returns ``VideoBufferType/pixelBuffer``.
    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Returns the codecs that the string takes: `h264parse ! …` takes H.264. None if it takes
    /// anything.
    public func codecs() -> Set<VideoCodec> { writer.branch.acceptedCodecs }

    /// Writes a unit as ``consume(_:)-(EncodedVideoFrame)`` does, and throws if it is not taken.
    public func render(_ unit: EncodedVideoFrame) throws {
        if case .dropped(let cause) = consume(unit) {
            throw writer.refusal(of: "encoded \(unit.codec) frame", cause)
        }
    }

    /// Starts the output, and blocks until it is started or has failed. Must not be called in a
    /// task, or on the main actor.
    public func shouldStart() throws { try writer.startAndWait() }

    /// Writes a frame as ``consume(_:)-(VideoFrame)`` does, and throws if it is not taken.
    public func render(_ frame: VideoFrame) throws {
        if case .dropped(let cause) = consume(frame) {
            throw writer.refusal(of: "\(frame)", cause)
        }
    }

    /// Ends the output as ``finish()`` does, and blocks until it is done. Does not wait for a sink of
    /// the same output that has not begun. Must not be called in a task, or on the main actor.
    ///
    /// - Throws: ``PipelineError`` if the output fails now or has failed before.
    public func shouldStop() throws { try writer.finishAndWait() }
}
