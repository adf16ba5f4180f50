/// A source of sound made from a gst-launch string: a microphone, a file, a test tone, a network stream.
///
/// ```swift
/// let source = try PipelineAudioSource("audiotestsrc ! audio/x-raw,rate=48000")
/// for try await frame in source.frames() { print(frame) }
/// ```
///
/// A live capture drops its oldest frames for a slow reader, and counts them; a file waits. Read it as a
/// sequence with ``frames()``, or give it to an engine, which sets ``consumer`` and calls the `should…`
/// methods on its control thread. The sound of a capture that gives pictures, too, is that source's
/// ``PipelineVideoSource/audio``. Thread: any but a streaming thread.
public final class PipelineAudioSource: AudioSource, Sendable {
    public typealias Configuration = PipelineVideoSource.Configuration
    public typealias Statistics = PipelineVideoSource.Statistics

    let reader: CaptureReader

    /// Parses the string. Where it has no appsink, one is put at its open end. Of several, the one named
    /// `audio` is read, or the first by name.
    ///
    /// Samples are taken as fast as they come: to pace a file, put `identity sync=true` in the string.
    ///
    /// - Parameter configuration: Its depth is the least: of sound 64 frames may wait.
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let capture = try Capture(
            text, depth: max(configuration.depth, Self.depth), branch: BridgedText.audioBranch,
            under: configuration.untrusted)
        let branch = capture.branch(BridgedText.audioBranch) ?? capture.branches[0]
        self.init(CaptureReader(CaptureRuns(capture), branch))
    }

    init(_ reader: CaptureReader) {
        self.reader = reader
        reader.branch.giveAudioFrames()
    }

    /// Audio comes in small pieces: a queue of a few would be a few milliseconds.
    private static let depth = 64

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { reader.pipeline }

    /// Whether the capture is live; `nil` before its first frame.
    public var isLive: Bool? { reader.capture.isLive }

    /// The counts so far.
    public var statistics: Statistics { reader.statistics }

    /// The frames, from the first on. Reading starts the pipeline, and leaving the loop stops it: at once in a
    /// function. At the top level of a script Swift keeps the iterator of a loop that was left by `break`:
    /// there the pipeline stops with ``stop()``, with the next loop, or with the process; until then a file
    /// waits, and a live capture drops its oldest frames.
    ///
    /// The loop ends at the end of the stream. An error in the pipeline is thrown out of it, after the
    /// frames that came before the error. No thread is blocked meanwhile. A second loop is a run of its own,
    /// from the first frame on, and takes the place of the one before; where that one waits for a frame just
    /// then, it is refused.
    public func frames() -> AudioFrameSequence { AudioFrameSequence(reader: reader) }

    /// Stops the pipeline of a loop over ``frames()`` that was left, or is read by another task: that loop
    /// ends. Does nothing where none reads, and to an engine's source.
    ///
    /// - Throws: ``PipelineError`` where the pipeline does not stop.
    public func stop() async throws(PipelineError) { try await reader.stopReading() }

    // MARK: AudioSource, for an engine's control thread

    /// Gets every frame, on the capture's streaming thread where it is a file, and on a delivery queue
    /// where it is live. Told of the end of the stream, or of the pipeline's error, after the frames.
    public var consumer: (any AudioFrameConsumer)? {
        get {
            if case .audio(let consumer) = reader.delivery.consumer { consumer } else { nil }
        }
        set { reader.delivery.consumer = newValue.map { .audio($0) } }
    }

    /// What is not live comes as fast as it can be read.
    public func pacing() -> MediaPacing { .engine }

    /// That of the whole capture.
    public func timeBase() -> MediaTimeBase? { reader.capture.timeBase }

    /// Opens devices; files are opened at the start. Blocks.
    ///
    /// - Throws: ``PipelineError``; with ``PipelineError/Code/invalidState`` while ``frames()`` are read.
    public func shouldInitialize() throws(PipelineError) -> Bool {
        try reader.initialize()
        return true
    }

    /// Starts the capture, from its beginning where it is a file; after a failure too. Blocks, and the
    /// first frames may be delivered before it returns.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStart() throws(PipelineError) { try reader.start() }

    /// Stops the capture; devices stay open. Blocks, until a frame that is being delivered was taken.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStop() throws(PipelineError) { try reader.stop() }

    /// Closes devices and files. Blocks.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldDispose() throws(PipelineError) { try reader.dispose() }
}

/// The frames of a ``PipelineAudioSource``, one at a time.
public struct AudioFrameSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Each iterator is a run of the pipeline; the latest reads.
    public func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(reader)) }

    public struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun

        /// - Throws: ``PipelineError``.
        public mutating func next() async throws -> AudioFrame? {
            switch try await run.next() {
            case nil: return nil
            case .audio(let frame): return frame
            case .frame(let frame): try await run.fail(.notRaw("audio", "\(frame.format)"))
            case .sample(let sample): try await run.fail(.notRaw("audio", "\(sample.caps)"))
            }
        }
    }
}
