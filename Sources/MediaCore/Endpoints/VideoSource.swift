/// Where frames come from: a camera, a file, a screen, or a class of yours.
///
/// The order of calls is query (``bufferType()``, ``captureType()``, ``contentHint()``, ``pacing()``),
/// initialise, start, stop, dispose; start and stop, and initialise and dispose, may repeat. One caller
/// makes all the calls, never two at once and never on the main thread, so a conforming class need not
/// be Sendable.
///
/// Source: Agora's `AgoraVideoSourceProtocol`, OpenTok's `OTVideoCapture`.
public protocol VideoSource: AnyObject {
    /// Where to deliver. Set before ``shouldInitialize()`` is called; `nil` after ``shouldDispose()``.
    var consumer: (any VideoFrameConsumer)? { get set }

    /// The kind of buffer this source delivers; asked once, first.
    func bufferType() -> VideoBufferType

    /// What this source captures; asked once. Default ``VideoCaptureType/unknown``.
    func captureType() -> VideoCaptureType

    /// What matters in its pictures; asked once. Default ``VideoContentHint/none``.
    func contentHint() -> VideoContentHint

    /// Who keeps the time; asked once. Default ``MediaPacing/source``.
    func pacing() -> MediaPacing

    /// The time that these pictures have in common with somebody's sound; asked once. Default `nil`.
    func timeBase() -> MediaTimeBase?

    /// Opens what the source needs. `false` or a thrown reason stops here. Default `true`.
    func shouldInitialize() throws -> Bool

    /// From here on the source delivers to its consumer. A thrown reason stops here.
    func shouldStart() throws

    /// After this, frames delivered are discarded and counted. A thrown reason is told, and nothing else.
    func shouldStop() throws

    /// Gives back what ``shouldInitialize()`` took. The consumer must not be used any more. A thrown
    /// reason is told, and nothing else. The default does nothing.
    func shouldDispose() throws
}

extension VideoSource {
    public func captureType() -> VideoCaptureType { .unknown }
    public func contentHint() -> VideoContentHint { .none }
    public func pacing() -> MediaPacing { .source }
    public func timeBase() -> MediaTimeBase? { nil }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldDispose() throws {}
}

/// How a source or sink holds its pixels.
public enum VideoBufferType: Int, Sendable {
    /// A counted handle, passed on without a copy.
    case pixelBuffer = 1
    /// Bytes.
    case rawData = 2
}

/// Who makes sure that a source's frames come at their time.
public enum MediaPacing: Sendable {
    /// The source: it delivers when things happen, as a camera does.
    case source
    /// The engine: the source delivers as fast as it is let, as a file does, and each frame without
    /// ``LiveTiming`` is held until it is due.
    case engine
}

/// ``MediaPacing`` by its name from before there was sound.
public typealias VideoPacing = MediaPacing
