internal import Synchronization

/// A source made from a gst-launch string: a camera, a file, a screen, a network stream.
///
/// ```swift
/// let source = try PipelineVideoSource("v4l2src ! videoconvert")
/// for try await frame in source.frames() { print(frame) }
/// ```
///
/// A live capture drops its oldest frame for a slow reader, and counts it; a file waits. Either way no
/// more than ``Configuration/depth`` frames wait.
///
/// What the string records by itself (`… ! tee name=t t. ! … ! filesink t. ! … ! appsink`) is completed when
/// the reading ends, in whatever way; the call that ends it takes as long, and throws what goes wrong. Where no
/// call does, because a loop was left, that is the pipeline's ``Pipeline/failure``.
///
/// Read it as a sequence with ``frames()``, or give it to an engine, which sets ``consumer`` and calls
/// the `should…` methods on its control thread. Thread: any but a streaming thread.
public final class PipelineVideoSource: VideoSource, Sendable {
    /// How a capture is read.
    public struct Configuration: Sendable {
        /// Frames that wait for the reader at most. Default 3. A bound that the string sets
        /// (`appsink max-buffers=8`) is kept.
        public var depth = 3
        /// What the string may do, where somebody else wrote it; `nil`: anything.
        public var untrusted: UntrustedPolicy?

        public init() {}
    }

    /// What became of the frames of one run.
    public struct Statistics: Hashable, Sendable, CustomStringConvertible {
        public var balance: FrameBalance
        /// Frames that came out of the pipeline.
        public var captured: Int { balance.offered }
        /// Frames that the program has taken.
        public var delivered: Int { balance.delivered }
        /// Frames not delivered, by cause: ``DropCause/evicted``, and ``DropCause/closed`` for those that
        /// came when nobody read any more.
        public var dropped: DropCounts { balance.dropped }
        /// Frames that wait for the reader.
        public var waiting: Int { balance.waiting }

        public var description: String { "\(balance)" }
    }

    let reader: CaptureReader
    private let twin = Mutex<Twin>(Twin())

    private struct Twin {
        weak var source: PipelineAudioSource?
    }

    /// Parses the string. Where it has no appsink, one is put at its open end. Of several, the one named
    /// `video` is read, or the first by name; ``audio`` reads another.
    ///
    /// Samples are taken as fast as they come: to pace a file, put `identity sync=true` in the string.
    ///
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let capture = try Capture(
            text, depth: configuration.depth, under: configuration.untrusted)
        reader = CaptureReader(CaptureRuns(capture), capture.branches[0])
    }

    /// The sound of the same capture, where the string has an appsink named `audio`; otherwise `nil`.
    ///
    /// ```swift
    /// let film = try PipelineVideoSource(
    ///     "filesrc location=film.mp4 ! decodebin name=d d. ! queue ! videoconvert ! appsink name=video "
    ///         + "d. ! queue ! audioconvert ! appsink name=audio")
    /// try await engine.setVideoSource(film)
    /// try await engine.setAudioSource(film.audio)
    /// ```
    ///
    /// Both are one pipeline, with one time: it runs from the first of them that starts to the last that
    /// stops. Once asked for and held, the sound has to be read, too: until it is, a file waits for its
    /// reader.
    public var audio: PipelineAudioSource? {
        guard let branch = reader.capture.branch(BridgedText.audioBranch),
            branch !== reader.branch
        else { return nil }
        return twin.withLock { twin in
            if let source = twin.source { return source }
            let source = PipelineAudioSource(CaptureReader(reader.runs, branch))
            twin.source = source
            return source
        }
    }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { reader.pipeline }

    /// Whether the capture is live; `nil` before its first frame.
    public var isLive: Bool? { reader.capture.isLive }

    /// The counts so far.
    public var statistics: Statistics { reader.statistics }

    // MARK: VideoSource, for an engine's control thread

    /// Gets every frame, on the capture's streaming thread where it is a file, and on a delivery queue
    /// where it is live. Told of the end of the stream, or of the pipeline's error, after the frames, on
    /// a queue of the source's own; not of what ``shouldStart()`` throws.
    public var consumer: (any VideoFrameConsumer)? {
        get {
            if case .video(let consumer) = reader.delivery.consumer { consumer } else { nil }
        }
        set { reader.delivery.consumer = newValue.map { .video($0) } }
    }

    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// A camera or a screen, where the string begins with one.
    public func captureType() -> VideoCaptureType {
        let factories = Set(pipeline.elements.compactMap(\.factoryName))
        if factories.contains("v4l2src") || factories.contains("libcamerasrc") { return .camera }
        return factories.contains("ximagesrc") || factories.contains("pipewiresrc")
            ? .screen : .unknown
    }

    /// What is not live comes as fast as it can be read.
    public func pacing() -> VideoPacing { .engine }

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

    /// Stops the capture; devices stay open. Blocks, until a frame that is being delivered was taken, and what
    /// the string records by itself is complete.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStop() throws(PipelineError) { try reader.stop() }

    /// Closes devices and files. Blocks.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldDispose() throws(PipelineError) { try reader.dispose() }
}
