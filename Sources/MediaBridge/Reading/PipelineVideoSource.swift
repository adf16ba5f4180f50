internal import Synchronization

/// A video source made from a gst-launch string: a camera, a file, a screen, a network stream.
///
/// ```swift
/// let source = try PipelineVideoSource("v4l2src ! videoconvert")
/// for try await frame in source.frames() { print(frame) }
/// ```
///
/// If the reader is slow, a live capture drops its oldest frame and counts it; a file waits. In
/// both cases no more than ``PipelineSource/Configuration/depth`` frames wait.
///
/// What the string records by itself (`… ! tee name=t t. ! … ! filesink t. ! … ! appsink`) is completed
/// whenever reading ends. The call that ends the reading waits for that, and throws an error if it fails.
/// If no call ends it, because a loop was left, the error becomes the pipeline's ``GStreamer/Pipeline/failure``.
///
/// An encoded stream (`rtspsrc … ! rtph264depay ! h264parse`) is delivered as encoded frames, in a loop of
/// ``encodedFrames()`` and to an engine, which decodes it while pictures are needed.
///
/// Read it as a sequence with ``frames()``, or give it to an engine, which sets ``consumer`` and
/// calls the `should…` methods on its control thread. Thread: any but a streaming thread.
public final class PipelineVideoSource: PipelineSource, VideoSource, @unchecked Sendable {
    private let audioPart = Mutex<AudioPart>(AudioPart())
    /// The encoder in the string, once it was asked to change its bit rate.
    private let bitRate = Mutex<EncoderBitRate?>(nil)

    private struct AudioPart {
        weak var source: PipelineAudioSource?
    }

    /// Parses the string. If it has no appsink, one is added at its open end. If it has several,
    /// the one named `video` is read, or else the first by name; ``audio`` reads another.
    ///
    /// Samples are taken as fast as they come. To pace a file, put `identity sync=true` in the
    /// string.
    ///
    /// - Throws: ``PipelineError`` with GStreamer's message.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        try self.init(text, feed: nil, configuration: configuration)
    }

    /// Creates a source of a string whose appsrcs are filled by a feed, which it retains.
    package init(
        _ text: String, feed: (any CaptureFeed)?, configuration: Configuration
    ) throws(PipelineError) {
        let capture = try Capture(
            text, depth: configuration.depth, under: configuration.untrusted)
        super.init(CaptureRuns(capture, feed: feed), capture.branches[0])
    }

    /// The audio of the same capture; `nil` if the string has no appsink named `audio`, or if this
    /// source reads that one itself.
    ///
    /// ```swift
    /// let film = try PipelineVideoSource(
    ///     "filesrc location=film.mp4 ! decodebin name=d "
    ///         + "d. ! queue ! videoconvert ! appsink name=video "
    ///         + "d. ! queue ! audioconvert ! appsink name=audio")
    /// try await engine.setVideoSource(film)
    /// try await engine.setAudioSource(film.audio)
    /// ```
    ///
    /// Both sources share one pipeline and one time base: it runs from the first source that starts
    /// to the last that stops. While the program holds the audio source, the audio has to be read,
    /// too: until it is, a file waits for its reader.
    public var audio: PipelineAudioSource? {
        guard let branch = runs.capture.branch(BridgedText.audioBranch),
            branch !== self.branch
        else { return nil }
        return audioPart.withLock { audioPart in
            if let source = audioPart.source { return source }
            let source = PipelineAudioSource(runs, branch)
            audioPart.source = source
            return source
        }
    }

    // MARK: VideoSource, for an engine's control thread

    /// Receives every frame: on the capture's streaming thread if it is a file, on a delivery queue
    /// if it is live. After the frames it gets the end of the stream or the pipeline's error, on a
    /// private queue of the source. An error that ``PipelineSource/shouldStart()`` throws is not
    /// reported to it.
    public var consumer: (any VideoFrameConsumer)? {
        get {
            if case .video(let consumer) = delivery.consumer { consumer } else { nil }
        }
        set { delivery.consumer = newValue.map { .video($0) } }
    }

    /// Returns ``VideoBufferType/pixelBuffer``.
    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Returns camera or screen if the string has an element that captures one, otherwise unknown.
    public func captureType() -> VideoCaptureType {
        let factories = Set(pipeline.elements.compactMap(\.factoryName))
        if factories.contains("v4l2src") || factories.contains("libcamerasrc") { return .camera }
        return factories.contains("ximagesrc") || factories.contains("pipewiresrc")
            ? .screen : .unknown
    }

    /// Asks for a key frame: of the encoder in the string, or of the sender behind a network source.
    /// Does not block. Thread: any.
    ///
    /// - Returns: Whether an element of the string took the request. A file has none that does.
    @discardableResult
    public func requestKeyFrame() -> Bool { branch.sink.requestKeyFrame() }

    /// Limits the bit rate of the encoder in the string, from its next picture on; the bit rate never
    /// exceeds the string's own. Every reader of the string gets these frames. Does not block. Thread: any.
    ///
    /// - Returns: The bit rate that holds now, if the string has an encoder whose bit rate may change while
    ///   it runs (`x264enc`, `x265enc`, `openh264enc`, `vp8enc` and others) and the limit has one. Size and
    ///   frame rate of a string do not change.
    @discardableResult
    public func adapt(to limit: VideoLimit) -> VideoLimit {
        var kept = VideoLimit()
        let encoder = bitRate.withLock { known in
            if known == nil { known = branch.sink.encoderBitRate }
            return known
        }
        guard let encoder else { return kept }
        let bitRate = min(encoder.original, limit.bitRate ?? .max)
        encoder.set(bitRate)
        if limit.bitRate != nil { kept.bitRate = bitRate }
        return kept
    }
}
