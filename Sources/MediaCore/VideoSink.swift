/// Where frames go: a display, a file, an encoder, or a class of yours.
///
/// The order of calls is query, initialise, start, render …, stop, dispose. A sink that only renders
/// implements ``render(_:)``; the rest has defaults.
public protocol VideoSink: AnyObject {
    /// The kind of buffer this sink takes; asked once, first.
    func bufferType() -> VideoBufferType

    /// The pixel format this sink wants; `nil` takes any.
    func pixelFormat() -> VideoPixelFormat?

    /// Opens what the sink needs. `false` or a thrown reason stops here.
    func shouldInitialize() throws -> Bool

    /// From here on frames come. A thrown reason stops this sink and nothing else.
    func shouldStart() throws

    /// One frame. Holding it is fine; it stays valid.
    func render(_ frame: VideoFrame) throws

    /// No frame comes after this.
    func shouldStop()

    /// Gives back what ``shouldInitialize()`` took.
    func shouldDispose()
}

extension VideoSink {
    public func bufferType() -> VideoBufferType { .pixelBuffer }
    public func pixelFormat() -> VideoPixelFormat? { nil }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldStart() throws {}
    public func shouldStop() {}
    public func shouldDispose() {}
}
