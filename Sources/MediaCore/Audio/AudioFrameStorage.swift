/// The memory behind an ``AudioFrame``: a GStreamer buffer, or memory of the program's own.
///
/// Conforming types are counted handles on samples that do not change while more than one holds them.
/// All members may be called on any thread.
public protocol AudioFrameStorage: AnyObject, Sendable {
    var format: AudioFormat { get }

    /// Samples of each channel.
    var sampleCount: Int { get }

    /// Whether nobody outside this object can see the samples, so that they may be written in place.
    var isWritable: Bool { get }

    /// Maps the samples, calls `body` once and unmaps them.
    func read(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError)

    /// Maps the samples for writing. Called only where ``isWritable`` is true and one frame holds this.
    func write(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError)

    /// The samples of a range in memory of their own.
    func copy(_ samples: Range<Int>) throws(FrameError) -> any AudioFrameStorage
}

/// Sound mapped by its storage: its planes, valid only in the scope that was given them.
///
/// Storages make it; users meet spans, in ``AudioFrame/withBytes(plane:_:)`` and its kin.
public struct AudioPlanes: ~Copyable {
    /// Each begins with the first sample; at least as long as the samples take.
    let planes: [UnsafeMutableRawBufferPointer]

    /// - Parameter planes: Memory that stays valid while the value lives: of ``AudioFormat/planes``
    ///   planes, each as long as its samples take. Written to only where it was mapped for that.
    public init(unsafe planes: [UnsafeMutableRawBufferPointer]) { self.planes = planes }
}
