/// Where sound goes: speakers, a file, an encoder, or a class of yours.
///
/// The order of calls is query (``audioFormat()``), initialise, start, render …, stop, dispose; start and
/// stop, and initialise and dispose, may repeat. One caller makes all the calls, never two at once and
/// never on the main thread, so a conforming class need not be Sendable. All but ``render(_:)`` has
/// defaults.
///
/// The twin of ``VideoSink``.
public protocol AudioSink: AnyObject {
    /// What this sink wants its frames to be; asked once, first. The default takes them as they come.
    func audioFormat() -> AudioConversion

    /// Opens what the sink needs. `false` or a thrown reason stops here.
    func shouldInitialize() throws -> Bool

    /// From here on frames come. A thrown reason stops this sink and nothing else.
    func shouldStart() throws

    /// One piece of sound, with its format and time. Holding it is fine; it stays valid.
    func render(_ frame: AudioFrame) throws

    /// No frame comes after this. A thrown reason is told, and nothing else.
    func shouldStop() throws

    /// Gives back what ``shouldInitialize()`` took. A thrown reason is told, and nothing else.
    func shouldDispose() throws
}

extension AudioSink {
    public func audioFormat() -> AudioConversion { AudioConversion() }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
    public func shouldDispose() throws {}
}
