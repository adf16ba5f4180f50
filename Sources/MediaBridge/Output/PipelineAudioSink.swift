/// An audio sink made from a gst-launch string: speakers, a file, an encoder, the network.
///
/// ```swift
/// let sink = try PipelineAudioSink("audioconvert ! opusenc ! oggmux ! filesink location=out.ogg")
/// for try await frame in source.frames() { try await sink.write(frame) }
/// try await sink.finish()
/// ```
///
/// Samples are copied only where they are converted, because the string does not take their format,
/// and where planes do not fit into one buffer. Times in the output follow from the frames' running
/// times, as those of ``PipelineVideoSink`` do. If an output takes both video and audio, use
/// ``PipelineVideoSink/audio`` of its video sink. Thread: any but a GStreamer streaming thread,
/// except for ``consume(_:)-(AudioFrame)``, which any thread may call, and for ``shouldStart()`` and
/// ``shouldStop()``, which block.
public final class PipelineAudioSink: AudioSink, AudioFrameConsumer, FrameBalanceReporting,
    QueueingSink
{
    /// How the output is fed.
    public typealias Configuration = PipelineVideoSink.Configuration
    /// The counts of one run, of audio buffers, not samples. Behind an encoder, `written` counts
    /// what the encoder put out.
    public typealias Report = PipelineVideoSink.Report

    private let writer: OutputWriter

    /// Parses the string. If it has no appsrc, one is added at its beginning. If it has several,
    /// the one named `audio` is written to, or else the first by name, and the others end at the
    /// start.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message if the string cannot be parsed, or if it
    ///   does what ``PipelineVideoSink/Configuration/untrusted`` forbids.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let output = try Output(
            text, configuration: configuration, streams: [BridgedText.audioBranch])
        let names = output.branches.keys.sorted()
        guard let branch = output.branches[BridgedText.audioBranch] ?? output.branches[names[0]]
        else { throw PipelineError(.wrongEnds, message: "no appsrc in: \(text)") }
        self.init(OutputWriter(output, branch, stallTimeout: configuration.stallTimeout))
    }

    init(_ writer: OutputWriter) { self.writer = writer }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { writer.pipeline }

    /// Starts the output. Optional: ``write(_:)-(AudioFrame)`` starts it if needed.
    ///
    /// - Throws: ``PipelineError`` if, for example, a file cannot be created or a sound card is
    ///   missing.
    public func start() async throws(PipelineError) { try await writer.start() }

    /// Writes a frame. Suspends while the queue is full, regardless of
    /// ``PipelineVideoSink/Configuration/whenFull``; blocks no thread.
    ///
    /// - Throws: ``PipelineError`` if the output has failed or does not take this frame;
    ///   ``FrameError`` for a frame without samples, or memory that outputs do not support;
    ///   `CancellationError` in a task that is cancelled while it waits.
    public func write(_ frame: AudioFrame) async throws {
        try await writer.write("\(frame)") { try await writer.branch.write(frame) }
    }

    /// Writes a frame from a thread that runs no task, such as a streaming thread. Blocks while the
    /// queue is full, unless the oldest frame is evicted (``PipelineVideoSink/Configuration/whenFull``).
    /// Does not start the output: before ``start()`` frames are dropped as ``DropCause/closed``.
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        writer.branch.consume(frame)
    }

    /// Writes a unit of encoded audio to a string that takes its codec, such as
    /// `opusparse ! oggmux ! filesink location=out.ogg`. Suspends while the queue is full.
    ///
    /// - Throws: What ``write(_:)-(AudioFrame)`` throws.
    public func write(_ unit: EncodedAudioFrame) async throws {
        try await writer.write("encoded \(unit.codec) frame") {
            try await writer.branch.write(unit)
        }
    }

    /// Writes a unit of encoded audio as ``consume(_:)-(AudioFrame)`` writes a frame.
    @discardableResult
    public func consume(_ unit: EncodedAudioFrame) -> FrameDisposition {
        writer.branch.consume(unit)
    }

    /// Ends the output. On return every frame that it took and did not evict is written, the file is
    /// complete, and the pipeline is at NULL. If the output takes video, too, the sink that finishes
    /// last does this.
    ///
    /// - Throws: ``PipelineError`` if the output failed, or refused the format of a frame;
    ///   ``PipelineError/Code/deadlineExceeded`` if nothing is written for
    ///   ``PipelineVideoSink/Configuration/stallTimeout``.
    @discardableResult
    public func finish() async throws(PipelineError) -> Report { try await writer.finish() }

    /// The counts so far.
    public var statistics: Report { writer.statistics }

    /// Returns the counts of the frames that the output took, for the engine that feeds it.
    package func frameBalance(of kind: MediaKind) -> FrameBalance { writer.frameBalance }

    package func queuesAtOnce(_ live: LiveTiming?) -> Bool { writer.branch.queuesAtOnce(live) }

    // MARK: AudioSink, for an engine's control thread

    /// Starts the output, and blocks until it is started or has failed. Must not be called in a
    /// task, or on the main actor.
    public func shouldStart() throws { try writer.startAndWait() }

    /// Writes a frame as ``consume(_:)-(AudioFrame)`` does, and throws if it is not taken.
    public func render(_ frame: AudioFrame) throws {
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
