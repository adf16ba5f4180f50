internal import MediaBasics
internal import Synchronization

/// A video sink made from a gst-launch string: a display, a file, an encoder, the network.
///
/// ```swift
/// let source = try PipelineVideoSource("v4l2src ! videoconvert")
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
/// call, and for ``PipelineSink/shouldStart()`` and ``PipelineSink/shouldStop()``, which block.
public final class PipelineVideoSink: PipelineSink, VideoSink, VideoFrameConsumer,
    @unchecked Sendable
{
    private let audioPart = Mutex(AudioPart())

    private struct AudioPart {
        weak var sink: PipelineAudioSink?
    }

    /// Parses the string. If it has no appsrc, one is added at its beginning.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        try self.init(text, configuration, stream: BridgedText.defaultBranch)
    }

    /// The audio of the same output; `nil` if the string has no appsrc named `audio`.
    ///
    /// Both sinks share one pipeline and one file: it starts with the first sink that starts, and
    /// is complete when both have finished. While the program holds the audio sink, audio has to be
    /// written, too: a muxer waits for it, and ``PipelineSink/finish()`` of the video waits for its first frame,
    /// for ``PipelineSink/Configuration/stallTimeout`` at most. If the program holds none, the audio stream is
    /// ended at the start.
    public var audio: PipelineAudioSink? {
        guard let branch = output.branches[BridgedText.audioBranch],
            branch !== self.branch
        else { return nil }
        return audioPart.withLock { audioPart in
            if let sink = audioPart.sink { return sink }
            let sink = PipelineAudioSink(
                output, branch, stallTimeout: stallTimeout)
            audioPart.sink = sink
            return sink
        }
    }

    // MARK: Writing

    /// Writes a frame. Suspends while the queue is full, regardless of ``PipelineSink/Configuration/whenFull``; blocks no
    /// thread.
    ///
    /// - Throws: ``PipelineError`` if the output has failed or does not take this frame, or its memory;
    ///   ``PipelineError/Code/interrupted`` in a task that is cancelled while it waits.
    public func write(_ frame: VideoFrame) async throws(PipelineError) {
        try await write(frame, "\(frame)")
    }

    /// Writes a frame from a thread that runs no task, such as a streaming thread. Blocks while the
    /// queue is full, unless the oldest frame is evicted (``PipelineSink/Configuration/whenFull``). Does not start
    /// the output: before ``PipelineSink/start()`` frames are dropped as ``DropCause/closed``.
    @discardableResult
    public func consume(_ frame: VideoFrame) -> FrameDisposition {
        branch.accept(frame)
    }

    /// Writes an encoded video frame to a string that takes its codec, such as
    /// `h264parse ! mp4mux ! filesink location=out.mp4`. Suspends while the queue is full.
    ///
    /// - Throws: What ``write(_:)-(VideoFrame)`` throws.
    public func write(_ frame: EncodedVideoFrame) async throws(PipelineError) {
        try await write(frame, "encoded \(frame.codec) frame")
    }

    /// Writes an encoded video frame as ``consume(_:)-(VideoFrame)`` writes a frame.
    @discardableResult
    public func consume(_ frame: EncodedVideoFrame) -> FrameDisposition {
        branch.accept(frame)
    }

    // MARK: VideoSink, for an engine's control thread

    /// Returns ``VideoBufferType/pixelBuffer``.
    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Returns the codecs that the string takes: `h264parse ! …` takes H.264. None if it takes
    /// anything.
    public func codecs() -> Set<VideoCodec> { branch.acceptedCodecs }

    /// Writes an encoded frame as ``consume(_:)-(EncodedVideoFrame)`` does, and throws if it is not taken.
    public func render(_ frame: EncodedVideoFrame) throws(PipelineError) {
        try render(frame, "encoded \(frame.codec) frame")
    }

    /// Writes a frame as ``consume(_:)-(VideoFrame)`` does, and throws if it is not taken.
    public func render(_ frame: VideoFrame) throws(PipelineError) {
        try render(frame, "\(frame)")
    }
}
