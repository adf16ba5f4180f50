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
    private let delivery = Delivery()
    private let isRead = Atomic<Bool>(false)

    /// Parses the string. Where it has no appsink, one is put at its open end.
    ///
    /// Samples are taken as fast as they come: to pace a file, put `identity sync=true` in the string.
    ///
    /// - Throws: ``PipelineError`` in GStreamer's words.
    public init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        capture = try Capture(text, depth: configuration.depth)
        branch = capture.branches[0]
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
    /// where it is live.
    public var consumer: (any VideoFrameConsumer)? {
        get { delivery.consumer.withLock { $0 } }
        set { delivery.consumer.withLock { $0 = newValue } }
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

    /// Opens devices and files.
    public func shouldInitialize() throws -> Bool {
        try pipeline.setStateAndWait(.ready)
        return true
    }

    /// Starts the capture, from its beginning where it is a file. Blocks.
    public func shouldStart() throws {
        branch.push(to: delivery)
        capture.prepare()
        try pipeline.setStateAndWait(.playing)
    }

    /// Stops the capture; devices stay open. Blocks.
    public func shouldStop() throws { try pipeline.setStateAndWait(.ready) }

    /// Closes devices and files. Blocks.
    public func shouldDispose() throws {
        defer { consumer = nil }
        try pipeline.setStateAndWait(.null)
    }

    // MARK: For FrameSequence

    /// One reader at a time: each frame exists once.
    func beginReading() throws(PipelineError) {
        guard !isRead.exchange(true, ordering: .acquiringAndReleasing) else {
            throw PipelineError(
                .invalidState, message: "these frames are being read already",
                advice: "read them once, and share each frame")
        }
    }

    func endReading() { isRead.store(false, ordering: .releasing) }

    /// From the branch to the consumer of the day.
    private final class Delivery: CaptureReceiver {
        let consumer = Mutex<(any VideoFrameConsumer)?>(nil)

        func receive(_ frame: consuming VideoFrame) {
            let consumer = self.consumer.withLock { $0 }
            consumer?.consume(frame)
        }
        func receive(_ sample: MediaSample) {}
        func branchEnded() {}
    }
}
