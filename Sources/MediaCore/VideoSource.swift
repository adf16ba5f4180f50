/// Where frames come from: a camera, a file, a screen, or a class of yours.
///
/// The order of calls is query, initialise, start, stop, dispose; start and stop, and initialise and
/// dispose, may repeat. One caller makes all the calls, never two at once and never on the main
/// thread, so a conforming class need not be Sendable.
public protocol VideoSource: AnyObject {
    /// Where to deliver. Set before ``shouldInitialize()`` is called; `nil` after ``shouldDispose()``.
    var consumer: (any VideoFrameConsumer)? { get set }

    /// The kind of buffer this source delivers; asked once, first.
    func bufferType() -> VideoBufferType

    /// Opens what the source needs. `false` or a thrown reason stops here.
    func shouldInitialize() throws -> Bool

    /// From here on the source delivers to its consumer. A thrown reason stops here.
    func shouldStart() throws

    /// After this, frames delivered are discarded and counted.
    func shouldStop()

    /// Gives back what ``shouldInitialize()`` took. The consumer must not be used any more.
    func shouldDispose()
}

/// How a source or sink holds its pixels.
public enum VideoBufferType: Int, Sendable {
    /// A counted handle, passed on without a copy.
    case pixelBuffer = 1
    /// Bytes.
    case rawData = 2
}

/// What a source delivers to.
///
/// Thread: any, but one at a time; a call returns at once where the stream is live, and where it is a
/// file it may block for as long as the slowest receiver needs.
public protocol VideoFrameConsumer: AnyObject, Sendable {
    /// Takes a frame, or says why not.
    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition
}
