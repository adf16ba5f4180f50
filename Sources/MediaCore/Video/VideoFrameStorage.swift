/// The memory behind a ``VideoFrame``: a GStreamer buffer, or memory of the program.
///
/// Conforming types are reference-counted handles on pixels that do not change while more than one
/// reference exists. Thread: any, for all members.
public protocol VideoFrameStorage: AnyObject, Sendable {
    /// The format of the picture.
    var format: VideoFormat { get }

    /// The size of the picture, as in ``format``. Asked several times for each frame, and cheaper
    /// than that where it copies no format. The default takes it from there.
    var size: VideoSize { get }

    /// Whether nothing outside this object can access the pixels, so that they may be written in
    /// place.
    var isWritable: Bool { get }

    /// Maps the pixels, calls `body` once and unmaps them.
    func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError)

    /// Maps the pixels for writing, calls `body` once and unmaps them. Called only if
    /// ``isWritable`` is true and only one frame holds this storage.
    func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError)

    /// Returns a copy of the picture, in new memory.
    func copy() throws(FrameError) -> any VideoFrameStorage
}

extension VideoFrameStorage {
    /// The size that ``format`` says.
    public var size: VideoSize {
        let format = self.format
        return VideoSize(width: format.width, height: format.height)
    }
}
