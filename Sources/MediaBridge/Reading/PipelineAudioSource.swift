internal import MediaBasics

/// An audio source made from a gst-launch string: a microphone, a file, a test tone, a network
/// stream.
///
/// ```swift
/// let source = try PipelineAudioSource("audiotestsrc ! audio/x-raw,rate=48000")
/// for try await frame in source.frames() { print(frame) }
/// ```
///
/// If the reader is slow, a live capture drops its oldest frames and counts them; a file waits.
/// Read it as a sequence with ``frames()``, or give it to an engine, which sets ``consumer`` and
/// calls the `should…` methods on its control thread. If a capture delivers both video and audio,
/// use ``PipelineVideoSource/audio`` of its video source. Thread: any but a streaming thread.
public final class PipelineAudioSource: AudioSource, Sendable {
    /// How the capture is read.
    public typealias Configuration = PipelineVideoSource.Configuration
    /// The counts of one run.
    public typealias Statistics = PipelineVideoSource.Statistics

    let reader: CaptureReader

    /// Parses the string. If it has no appsink, one is added at its open end. If it has several,
    /// the one named `audio` is read, or else the first by name.
    ///
    /// Samples are taken as fast as they come. To pace a file, put `identity sync=true` in the
    /// string.
    ///
    /// - Parameters:
    ///   - text: A gst-launch string that delivers audio.
    ///   - configuration: How the capture is read. At least 64 audio frames may wait, even if its
    ///     depth is smaller.
    /// - Throws: ``PipelineError`` with GStreamer's message.
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

    /// Audio buffers are short: a queue of a few buffers would hold only a few milliseconds.
    private static let depth = 64

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { reader.pipeline }

    /// Whether the capture is live; `nil` before its first frame.
    public var isLive: Bool? { reader.capture.isLive }

    /// The counts so far.
    public var statistics: Statistics { reader.statistics }

    /// Returns the frames as a sequence, from the first frame on. Reading starts the pipeline, and
    /// leaving the loop stops it: at once inside a function. At the top level of a script Swift
    /// keeps the iterator of a loop that was left by `break`; there the pipeline stops at
    /// ``stop()``, at the next loop, or when the process ends. Until then a file waits, and a live
    /// capture drops its oldest frames.
    ///
    /// The loop ends at the end of the stream. An error of the pipeline is thrown from the loop,
    /// after the frames that came before it. No thread is blocked while the loop waits. A second
    /// loop starts a new run from the first frame and replaces the loop before it; if that loop is
    /// waiting for a frame at that moment, the second loop throws
    /// ``PipelineError/Code/invalidState``.
    ///
    /// An encoded stream is decoded (Opus, AAC, MP3, FLAC, Vorbis, AC-3, G.711, if a decoder is
    /// installed); ``units()`` reads it without decoding. The loop throws ``PipelineError`` if the stream
    /// is not audio, or if no decoder for its codec is installed.
    public func frames() -> some AsyncSequence<AudioFrame, any Error> & Sendable {
        AudioFrameSequence(reader: reader)
    }

    /// Stops the pipeline of a loop over ``frames()`` that was left or that another task is
    /// reading; that loop ends. Does nothing if no loop reads, or if an engine uses the source.
    ///
    /// - Throws: ``PipelineError`` if the pipeline does not stop, or if what its string records by
    ///   itself is not complete.
    public func stop() async throws(PipelineError) { try await reader.stopReading() }

    // MARK: AudioSource, for an engine's control thread

    /// Receives every frame: on the capture's streaming thread if it is a file, on a delivery queue
    /// if it is live. After the frames it gets the end of the stream or the pipeline's error, on a
    /// private queue of the source. An error that ``shouldStart()`` throws is not reported to it.
    public var consumer: (any AudioFrameConsumer)? {
        get {
            if case .audio(let consumer) = reader.delivery.consumer { consumer } else { nil }
        }
        set { reader.delivery.consumer = newValue.map { .audio($0) } }
    }

    /// Returns ``MediaPacing/engine``: a capture that is not live delivers as fast as it can be
    /// read, and the engine holds its frames until they are due.
    public func pacing() -> MediaPacing { .engine }

    /// Returns the time base of the whole capture.
    public func timeBase() -> MediaTimeBase? { reader.capture.timeBase }

    /// Opens devices; files are opened by ``shouldStart()``. Blocks.
    ///
    /// - Returns: Always `true`.
    /// - Throws: ``PipelineError``; with ``PipelineError/Code/invalidState`` while a loop reads
    ///   ``frames()``.
    public func shouldInitialize() throws(PipelineError) -> Bool {
        try reader.initialize()
        return true
    }

    /// Starts the capture; a file starts from its beginning. Can be called again after a failure.
    /// Blocks; the first frames may be delivered before it returns.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStart() throws(PipelineError) { try reader.start() }

    /// Stops the capture; devices stay open. Blocks until the consumer has taken a frame that is
    /// being delivered, and until what the string records by itself is complete.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStop() throws(PipelineError) { try reader.stop() }

    /// Closes devices and files. Blocks.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldDispose() throws(PipelineError) { try reader.dispose() }
}

/// The frames of a ``PipelineAudioSource``, one at a time.
struct AudioFrameSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(reader)) }

    /// Reads the frames of one run.
    struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun
        private var decoded = Fifo<AudioFrame>()

        init(run: SequenceRun) { self.run = run }

        /// Returns the next frame; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails, or if its stream is not raw audio and not
        ///   of a codec that can be decoded.
        mutating func next() async throws -> AudioFrame? {
            while true {
                if let frame = decoded.popFirst() { return frame }
                guard case .item(let item) = try await run.next() else { return nil }
                switch item {
                case .audio(let frame): return frame
                case .frame(let frame): try await run.fail(.notRaw("audio", "\(frame.format)"))
                case .sample(let sample):
                    do throws(PipelineError) {
                        guard let frames = try run.sound.decode(sample) else {
                            throw .notRaw("audio", "\(sample.caps)")
                        }
                        frames.forEach { decoded.append($0) }
                    } catch {
                        try await run.fail(error)
                    }
                }
            }
        }
    }
}
