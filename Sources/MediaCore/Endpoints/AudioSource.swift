/// A source of audio: a microphone, a file, a test tone, or a class of the program.
///
/// The order of calls is query (``pacing()``, ``timeBase()``), initialise, start, stop, dispose.
/// Start and stop may repeat, and so may initialise and dispose. All calls come from one caller,
/// never overlap and are never made on the main thread, so a conforming class need not be Sendable.
///
/// The counterpart of ``VideoSource``.
public protocol AudioSource: MediaEndpoint {
    /// The consumer to which frames are delivered. Set before ``MediaEndpoint/shouldInitialize()`` is called;
    /// `nil` after ``MediaEndpoint/shouldDispose()``.
    var consumer: (any AudioFrameConsumer)? { get set }

    /// Returns whether the source or the engine paces the frames. Called once. Default
    /// ``MediaPacing/source``.
    func pacing() -> MediaPacing

    /// Returns the time base that this audio shares with a video source. Called once. Default
    /// `nil`: none.
    func timeBase() -> MediaTimeBase?
}

extension AudioSource {
    public func pacing() -> MediaPacing { .source }
    public func timeBase() -> MediaTimeBase? { nil }
}
