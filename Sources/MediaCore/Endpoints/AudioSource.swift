/// Where sound comes from: a microphone, a file, a test tone, or a class of yours.
///
/// The order of calls is query (``audioFormat()``, ``pacing()``), initialise, start, stop, dispose; start
/// and stop, and initialise and dispose, may repeat. One caller makes all the calls, never two at once
/// and never on the main thread, so a conforming class need not be Sendable.
///
/// The twin of ``VideoSource``.
public protocol AudioSource: AnyObject {
    /// Where to deliver. Set before ``shouldInitialize()`` is called; `nil` after ``shouldDispose()``.
    var consumer: (any AudioFrameConsumer)? { get set }

    /// What this source delivers, where it knows; asked once, first. Default `nil`: each frame says what
    /// it is.
    func audioFormat() -> AudioFormat?

    /// Who keeps the time; asked once. Default ``MediaPacing/source``.
    func pacing() -> MediaPacing

    /// The time that this sound has in common with somebody's pictures; asked once. Default `nil`.
    func timeBase() -> MediaTimeBase?

    /// Opens what the source needs. `false` or a thrown reason stops here.
    func shouldInitialize() throws -> Bool

    /// From here on the source delivers to its consumer. A thrown reason stops here.
    func shouldStart() throws

    /// After this, frames delivered are discarded and counted. A thrown reason is told, and nothing else.
    func shouldStop() throws

    /// Gives back what ``shouldInitialize()`` took. The consumer must not be used any more. A thrown
    /// reason is told, and nothing else. The default does nothing.
    func shouldDispose() throws
}

extension AudioSource {
    public func audioFormat() -> AudioFormat? { nil }
    public func pacing() -> MediaPacing { .source }
    public func timeBase() -> MediaTimeBase? { nil }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldDispose() throws {}
}
