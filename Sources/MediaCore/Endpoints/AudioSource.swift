/// A source of audio: a microphone, a file, a test tone, or a class of the program.
///
/// The order of calls is query (``audioFormat()``, ``pacing()``), initialise, start, stop, dispose.
/// Start and stop may repeat, and so may initialise and dispose. All calls come from one caller,
/// never overlap and are never made on the main thread, so a conforming class need not be Sendable.
///
/// The counterpart of ``VideoSource``.
public protocol AudioSource: AnyObject {
    /// The consumer to which frames are delivered. Set before ``shouldInitialize()`` is called;
    /// `nil` after ``shouldDispose()``.
    var consumer: (any AudioFrameConsumer)? { get set }

    /// Returns the format that this source delivers, if known in advance. Called once, before the
    /// other methods. Default `nil`: each frame has its own format.
    func audioFormat() -> AudioFormat?

    /// Returns whether the source or the engine paces the frames. Called once. Default
    /// ``MediaPacing/source``.
    func pacing() -> MediaPacing

    /// Returns the time base that this audio shares with a video source. Called once. Default
    /// `nil`: none.
    func timeBase() -> MediaTimeBase?

    /// Allocates the resources of the source. If it returns `false` or throws, the source is not
    /// started. Default `true`.
    func shouldInitialize() throws -> Bool

    /// Starts delivery to the consumer. If it throws, the source is not started.
    func shouldStart() throws

    /// Stops delivery. Frames delivered later are discarded and counted. An error that it throws is
    /// reported and has no other effect.
    func shouldStop() throws

    /// Releases the resources that ``shouldInitialize()`` allocated. The consumer must not be used
    /// any more. An error that it throws is reported and has no other effect. The default does
    /// nothing.
    func shouldDispose() throws
}

extension AudioSource {
    public func audioFormat() -> AudioFormat? { nil }
    public func pacing() -> MediaPacing { .source }
    public func timeBase() -> MediaTimeBase? { nil }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldDispose() throws {}
}
