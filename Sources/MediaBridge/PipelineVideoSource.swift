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
    public struct Statistics: Hashable, Sendable {
        /// Frames that came out of the pipeline.
        public var captured: Int
        /// Frames that the program has taken.
        public var delivered: Int
        /// Frames not delivered, by cause.
        public var dropped: DropCounts
    }

    let capture: Capture
    let branch: CaptureBranch
    private let delivery = SourceDelivery()
    private enum Reader { case sequence, engine }
    private let reader = Mutex<Reader?>(nil)

    /// Parses the string. Where it has no appsink, one is put at its open end.
    ///
    /// Samples are taken as fast as they come: to pace a file, put `identity sync=true` in the string.
    ///
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        capture = try Capture(
            text, depth: configuration.depth, under: configuration.untrusted)
        branch = capture.branches[0]
        // Nobody reads the others, and what nobody reads stops them all.
        capture.branches.dropFirst().forEach { $0.discard() }
        pipeline.onFirstError { [weak branch, delivery] error in
            branch?.afterDelivery { delivery.finish(.failed(error)) }
        }
    }

    /// The pipeline, for its graph, its elements and its messages.
    public var pipeline: Pipeline { capture.pipeline }

    /// Whether the capture is live; `nil` before its first frame.
    public var isLive: Bool? { capture.isLive }

    /// The counts so far.
    public var statistics: Statistics {
        var drops = DropCounts()
        drops[.evicted] = branch.evictedSamples
        return Statistics(
            captured: branch.arrivedSamples, delivered: branch.takenSamples, dropped: drops)
    }

    // MARK: VideoSource, for an engine's control thread

    /// Gets every frame, on the capture's streaming thread where it is a file, and on a delivery queue
    /// where it is live. Told of the end of the stream, or of the pipeline's error, after the frames, on
    /// a queue of the source's own; not of what ``shouldStart()`` throws.
    public var consumer: (any VideoFrameConsumer)? {
        get { delivery.consumer }
        set { delivery.consumer = newValue }
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

    /// Opens devices; files are opened at the start. Blocks.
    ///
    /// - Throws: ``PipelineError``; with ``PipelineError/Code/invalidState`` while ``frames()`` are read.
    public func shouldInitialize() throws(PipelineError) -> Bool {
        try claim(.engine)
        do throws(PipelineError) {
            pipeline.forgetOutcome()
            try pipeline.setStateAndWait(.ready)
        } catch {
            abandon()
            release(.engine)
            throw error
        }
        return true
    }

    /// Starts the capture, from its beginning where it is a file; after a failure too. Blocks, and the
    /// first frames may be delivered before it returns.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStart() throws(PipelineError) {
        // A run that failed, or was never stopped, is still up.
        pipeline.forgetOutcome()
        try pipeline.setStateAndWait(.ready)
        capture.prepare()
        // Not the change alone is waited for: a consumer that holds the first frame until this returns
        // holds the lock that the change needs. With a frame there, the capture has started.
        let start = StartOutcome()
        delivery.begin(onFirstFrame: { start.note(nil) })
        branch.push(to: delivery)
        pipeline.requestState(.playing) { [delivery] error in
            if start.note(error), let error { delivery.finish(.failed(error)) }
        }
        if let error = start.wait() {
            delivery.stop()
            abandon()
            throw error
        }
        delivery.started()
    }

    /// Stops the capture; devices stay open. Blocks, until a frame that is being delivered was taken.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldStop() throws(PipelineError) {
        delivery.stop()
        try pipeline.setStateAndWait(.ready)
    }

    /// Closes devices and files. Blocks.
    ///
    /// - Throws: ``PipelineError``.
    public func shouldDispose() throws(PipelineError) {
        delivery.stop()
        defer {
            consumer = nil
            release(.engine)
        }
        try pipeline.setStateAndWait(.null)
    }

    /// Puts a pipeline that failed away.
    private func abandon() { pipeline.requestState(.null) }

    // MARK: For FrameSequence

    func beginReading() throws(PipelineError) { try claim(.sequence) }

    func endReading() { release(.sequence) }

    /// One reader at a time: each frame exists once.
    private func claim(_ claimant: Reader) throws(PipelineError) {
        let isFree = reader.withLock { reader in
            // An engine may initialise what it has initialised.
            guard reader == nil || (reader == .engine && claimant == .engine) else { return false }
            reader = claimant
            return true
        }
        guard !isFree else { return }
        throw PipelineError(
            .invalidState, message: "these frames are being read already",
            advice: "read them once, and share each frame")
    }

    private func release(_ claimant: Reader) {
        reader.withLock { if $0 == claimant { $0 = nil } }
    }
}
