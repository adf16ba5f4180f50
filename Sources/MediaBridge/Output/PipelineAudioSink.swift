/// An audio sink made from a gst-launch string: speakers, a file, an encoder, the network.
///
/// ```swift
/// let sink = try PipelineAudioSink("audioconvert ! opusenc ! oggmux ! filesink location=out.ogg")
/// for try await frame in source.frames() { try await sink.write(frame) }
/// try await sink.finish()
/// ```
///
/// Samples are not copied, and the frames' running time becomes the output's. A format that the
/// string does not take is converted. If an output takes both video and audio, use
/// ``PipelineVideoSink/audio`` of its video sink. Thread: any but a GStreamer streaming thread,
/// except for ``consume(_:)``, which any thread may call.
public final class PipelineAudioSink: AudioSink, AudioFrameConsumer, FrameBalanceReporting {
    /// How the output is fed.
    public typealias Configuration = PipelineVideoSink.Configuration
    /// The counts of one run. Its frames are audio buffers, not samples.
    public typealias Report = PipelineVideoSink.Report

    private let writer: OutputWriter

    /// Parses the string. If it has no appsrc, one is added at its beginning. If it has several,
    /// the one named `audio` is written to, or else the first by name.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message.
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

    /// Starts the output. Optional: ``write(_:)`` starts it if needed.
    ///
    /// - Throws: ``PipelineError`` if, for example, a file cannot be created or a sound card is
    ///   missing.
    public func start() async throws(PipelineError) { try await writer.start() }

    /// Writes a frame. Suspends while the queue is full; blocks no thread.
    ///
    /// - Throws: ``PipelineError`` if the output has failed or does not take this frame;
    ///   ``FrameError`` for memory that outputs do not support; `CancellationError` in a task that
    ///   is cancelled while it waits.
    public func write(_ frame: AudioFrame) async throws {
        try await writer.write("\(frame)") { try await writer.branch.write(frame) }
    }

    /// Writes a frame from a thread that runs no task, such as a streaming thread. Blocks while the
    /// queue is full, unless the oldest frame is evicted (``PipelineVideoSink/Configuration/whenFull``).
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        writer.branch.consume(frame)
    }

    /// Ends the output. On return every frame it took is written, the file is complete, and the
    /// pipeline is at NULL. If the output takes video, too, the sink that finishes last does this.
    ///
    /// - Throws: ``PipelineError`` if the output fails now or has failed before.
    @discardableResult
    public func finish() async throws(PipelineError) -> Report { try await writer.finish() }

    /// The counts so far.
    public var statistics: Report { writer.statistics }

    /// Returns the counts of the frames that the output took, for the engine that feeds it.
    public func takenFrames(_ kind: MediaKind) -> FrameBalance { writer.takenFrames }

    // MARK: AudioSink, for an engine's control thread

    /// Starts the output, and blocks until it is started or has failed.
    public func shouldStart() throws { try writer.startAndWait() }

    /// Writes a frame as ``consume(_:)`` does, and throws if it is not taken.
    public func render(_ frame: AudioFrame) throws {
        if case .dropped(let cause) = consume(frame) {
            throw writer.refusal(of: "\(frame)", cause)
        }
    }

    /// Ends the output as ``finish()`` does, and blocks until it is done.
    ///
    /// - Throws: ``PipelineError`` if the output fails now or has failed before.
    public func shouldStop() throws { try writer.finishAndWait() }
}
