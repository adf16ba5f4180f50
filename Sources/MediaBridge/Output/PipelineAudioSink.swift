/// A sink of sound made from a gst-launch string: speakers, a file, an encoder, the network.
///
/// ```swift
/// let sink = try PipelineAudioSink("audioconvert ! opusenc ! oggmux ! filesink location=out.ogg")
/// for try await frame in source.frames() { try await sink.write(frame) }
/// try await sink.finish()
/// ```
///
/// Frames cross without a copy of samples, and their running time becomes the output's. What the string does
/// not take is converted. The sound of an output that takes pictures, too, is that sink's
/// ``PipelineVideoSink/audio``. Thread: any but a GStreamer streaming thread, except for ``consume(_:)``,
/// which any thread may call.
public final class PipelineAudioSink: AudioSink, AudioFrameConsumer, FrameBalanceReporting {
    public typealias Configuration = PipelineVideoSink.Configuration
    /// Frames of a report are buffers of sound, not samples.
    public typealias Report = PipelineVideoSink.Report

    private let writer: OutputWriter

    /// Parses the string. Where it has no appsrc, one is put at its beginning. Of several, the one named
    /// `audio` is written to, or the first by name.
    ///
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let output = try Output(
            text, configuration: configuration, streams: [BridgedText.audioBranch])
        let names = output.branches.keys.sorted()
        guard let branch = output.branches[BridgedText.audioBranch] ?? output.branches[names[0]]
        else { throw PipelineError(.wrongEnds, message: "no appsrc in: \(text)") }
        self.init(OutputWriter(output, branch, patience: configuration.patience))
    }

    init(_ writer: OutputWriter) { self.writer = writer }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { writer.pipeline }

    /// Starts the output. ``write(_:)`` does it by itself.
    ///
    /// - Throws: ``PipelineError``: a file that cannot be made, a sound card that is not there.
    public func start() async throws(PipelineError) { try await writer.start() }

    /// Hands a frame over; suspends, and blocks no thread, while the queue is full.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, or why it does not take this frame.
    public func write(_ frame: AudioFrame) async throws {
        try await writer.write("\(frame)") { try await writer.branch.write(frame) }
    }

    /// Hands a frame over from a thread that is not a task: a streaming thread, say. Blocks while the
    /// queue is full, unless the oldest frame gives way (``PipelineVideoSink/WhenFull``).
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        writer.branch.consume(frame)
    }

    /// Ends the output: every frame it took is written, the file is complete, the pipeline is at NULL. Of
    /// an output that takes pictures, too, the last of both sinks to finish does that.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, now or before.
    @discardableResult
    public func finish() async throws(PipelineError) -> Report { try await writer.finish() }

    /// The counts so far.
    public var statistics: Report { writer.statistics }

    /// For the engine that feeds it.
    public func takenFrames(_ kind: MediaKind) -> FrameBalance { writer.takenFrames }

    // MARK: AudioSink, for an engine's control thread

    /// Starts the output, and blocks until it is started or has failed.
    public func shouldStart() throws { try writer.startAndWait() }

    /// Hands a frame over as ``consume(_:)`` does, and throws where it is not taken.
    public func render(_ frame: AudioFrame) throws {
        if case .dropped(let cause) = consume(frame) {
            throw writer.refusal(of: "\(frame)", cause)
        }
    }

    /// Ends the output as ``finish()`` does, and blocks until it is done.
    ///
    /// - Throws: ``PipelineError``: what made the output fail, now or before.
    public func shouldStop() throws { try writer.finishAndWait() }
}
