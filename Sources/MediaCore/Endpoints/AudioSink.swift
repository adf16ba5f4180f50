/// A receiver of audio: speakers, a file, an encoder, or a class of the program.
///
/// The order of calls is query (``audioFormat()``), initialise, start, render …, stop, dispose.
/// Start and stop may repeat, and so may initialise and dispose. All calls come from one caller,
/// never overlap and are never made on the main thread, so a conforming class need not be Sendable.
/// All methods except ``render(_:)`` have default implementations.
///
/// The counterpart of ``VideoSink``.
public protocol AudioSink: AnyObject {
    /// Returns the format that this sink asks for. Called once, before the other methods. Default:
    /// frames are delivered unconverted.
    func audioFormat() -> AudioConversion

    /// Allocates the resources of the sink. If it returns `false` or throws, the sink is not
    /// started.
    func shouldInitialize() throws -> Bool

    /// Called before the first frame of a run. If it throws, only this sink does not start.
    func shouldStart() throws

    /// Renders one frame, which has its own format and time. The frame may be kept; it stays valid.
    func render(_ frame: AudioFrame) throws

    /// Called after the last frame of a run. An error that it throws is reported and has no other
    /// effect.
    func shouldStop() throws

    /// Releases the resources that ``shouldInitialize()`` allocated. An error that it throws is
    /// reported and has no other effect.
    func shouldDispose() throws
}

extension AudioSink {
    public func audioFormat() -> AudioConversion { AudioConversion() }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
    public func shouldDispose() throws {}
}
