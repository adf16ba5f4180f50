/// The memory behind a ``VideoFrame``: a GStreamer buffer, or memory of the program's own.
///
/// Conforming types are counted handles on pixels that do not change while more than one holds them.
/// All members may be called on any thread.
public protocol VideoFrameStorage: AnyObject, Sendable {
    var format: VideoFormat { get }

    /// Whether nobody outside this object can see the pixels, so that they may be written in place.
    var isWritable: Bool { get }

    /// Maps the pixels, calls `body` once and unmaps them.
    func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError)

    /// Maps the pixels for writing. Called only where ``isWritable`` is true and one frame holds this.
    func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError)

    /// The same picture in memory of its own.
    func copy() throws(FrameError) -> any VideoFrameStorage
}
