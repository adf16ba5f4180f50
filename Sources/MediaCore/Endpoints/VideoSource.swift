/// A source of video frames: a camera, a file, a screen, or a class of the program.
///
/// The order of calls is query (``bufferType()``, ``captureType()``, ``contentHint()``,
/// ``pacing()``), initialise, start, stop, dispose. Start and stop may repeat, and so may
/// initialise and dispose. All calls come from one caller, never overlap and are never made on the
/// main thread, so a conforming class need not be Sendable.
///
/// Source: Agora's `AgoraVideoSourceProtocol`, OpenTok's `OTVideoCapture`.
public protocol VideoSource: MediaEndpoint {
    /// The consumer to which frames are delivered. Set before ``MediaEndpoint/shouldInitialize()`` is called;
    /// `nil` after ``MediaEndpoint/shouldDispose()``.
    var consumer: (any VideoFrameConsumer)? { get set }

    /// Returns the kind of buffer this source delivers. Called once, before the other methods.
    func bufferType() -> VideoBufferType

    /// Returns what this source captures. Called once. Default ``VideoCaptureType/unknown``.
    func captureType() -> VideoCaptureType

    /// Returns which property of the pictures is most important. Called once. Default
    /// ``VideoContentHint/none``.
    func contentHint() -> VideoContentHint

    /// Returns whether the source or the engine paces the frames. Called once. Default
    /// ``MediaPacing/source``.
    func pacing() -> MediaPacing

    /// Returns the time base that this video shares with an audio source. Called once. Default
    /// `nil`: none.
    func timeBase() -> MediaTimeBase?

    /// Asks for a key frame soon, because a receiver of the encoded units came late or lost one.
    /// Called between start and stop, once for each interruption.
    ///
    /// - Returns: Whether the request was passed on. Default `false`.
    func requestKeyFrame() -> Bool

    /// Keeps to what the receivers and the network of a channel can use. Called after start and at each
    /// change; the last limit holds until the next.
    ///
    /// - Returns: The parts of the limit that the source keeps to from now on; the others are `nil`.
    ///   Default: none.
    func adapt(to limit: VideoLimit) -> VideoLimit
}

extension VideoSource {
    public func captureType() -> VideoCaptureType { .unknown }
    public func contentHint() -> VideoContentHint { .none }
    public func pacing() -> MediaPacing { .source }
    public func timeBase() -> MediaTimeBase? { nil }
    public func requestKeyFrame() -> Bool { false }
    public func adapt(to limit: VideoLimit) -> VideoLimit { VideoLimit() }
}

/// The form in which a source or sink handles pixels.
public enum VideoBufferType: Int, Sendable {
    /// A reference-counted handle, passed on without a copy.
    case pixelBuffer = 1
    /// Plain bytes.
    case rawData = 2
}

/// Whether the source or the engine ensures that frames are delivered at the right time.
public enum MediaPacing: Sendable {
    /// The source delivers frames as they occur, as a camera does.
    case source
    /// The source delivers as fast as its consumer allows, as a file does, and the engine holds
    /// each frame without ``LiveTiming`` until it is due.
    case engine
}
