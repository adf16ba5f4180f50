/// A receiver of audio: speakers, a file, an encoder, or a class of the program.
///
/// The order of calls is query (``audioFormat()``), initialise, start, render …, stop, dispose.
/// Start and stop may repeat, and so may initialise and dispose. All calls come from one caller,
/// never overlap and are never made on the main thread, so a conforming class need not be Sendable.
/// All methods except ``render(_:)`` have default implementations.
///
/// The counterpart of ``VideoSink``.
public protocol AudioSink: MediaEndpoint {
    /// Returns the format that this sink asks for. Called once, before the other methods. Default:
    /// frames are delivered unconverted.
    func audioFormat() -> AudioConversion

    /// Renders one frame, which has its own format and time. The frame may be kept; it stays valid.
    func render(_ frame: AudioFrame) throws
}

extension AudioSink {
    public func audioFormat() -> AudioConversion { AudioConversion() }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
}
