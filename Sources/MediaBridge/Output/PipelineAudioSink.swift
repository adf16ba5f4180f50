/// An audio sink made from a gst-launch string: speakers, a file, an encoder, the network.
///
/// ```swift
/// let source = try PipelineAudioSource("pulsesrc")
/// let sink = try PipelineAudioSink("audioconvert ! opusenc ! oggmux ! filesink location=out.ogg")
/// for try await frame in source.frames() { try await sink.write(frame) }
/// try await sink.finish()
/// ```
///
/// Samples are copied only where they are converted, because the string does not take their format,
/// and where planes do not fit into one buffer. Times in the output follow from the frames' running
/// times, as those of ``PipelineVideoSink`` do. If an output takes both video and audio, use
/// ``PipelineVideoSink/audio`` of its video sink. Thread: any but a GStreamer streaming thread,
/// except for ``consume(_:)-(AudioFrame)``, which any thread may call, and for ``PipelineSink/shouldStart()`` and
/// ``PipelineSink/shouldStop()``, which block.
public final class PipelineAudioSink: PipelineSink, AudioSink, AudioFrameConsumer,
    @unchecked Sendable
{
    /// Parses the string. If it has no appsrc, one is added at its beginning. If it has several,
    /// the one named `audio` is written to, or else the first by name, and the others end at the
    /// start.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message if the string cannot be parsed, or if it
    ///   does what ``PipelineSink/Configuration/untrusted`` forbids.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        try self.init(text, configuration, stream: BridgedText.audioBranch)
    }

    /// Writes a frame. Suspends while the queue is full, regardless of
    /// ``PipelineSink/Configuration/whenFull``; blocks no thread.
    ///
    /// - Throws: ``PipelineError`` if the output has failed or does not take this frame, or its memory;
    ///   ``PipelineError/Code/interrupted`` in a task that is cancelled while it waits.
    public func write(_ frame: AudioFrame) async throws(PipelineError) {
        try await write(frame, "\(frame)")
    }

    /// Writes a frame from a thread that runs no task, such as a streaming thread. Blocks while the
    /// queue is full, unless the oldest frame is evicted (``PipelineSink/Configuration/whenFull``).
    /// Does not start the output: before ``PipelineSink/start()`` frames are dropped as ``DropCause/closed``.
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        branch.accept(frame)
    }

    /// Writes an encoded audio frame to a string that takes its codec, such as
    /// `opusparse ! oggmux ! filesink location=out.ogg`. Suspends while the queue is full.
    ///
    /// - Throws: What ``write(_:)-(AudioFrame)`` throws.
    public func write(_ frame: EncodedAudioFrame) async throws(PipelineError) {
        try await write(frame, "encoded \(frame.codec) frame")
    }

    /// Writes an encoded audio frame as ``consume(_:)-(AudioFrame)`` writes a frame.
    @discardableResult
    public func consume(_ frame: EncodedAudioFrame) -> FrameDisposition {
        branch.accept(frame)
    }

    // MARK: AudioSink, for an engine's control thread

    /// Writes a frame as ``consume(_:)-(AudioFrame)`` does, and throws if it is not taken.
    public func render(_ frame: AudioFrame) throws(PipelineError) {
        try render(frame, "\(frame)")
    }
}
