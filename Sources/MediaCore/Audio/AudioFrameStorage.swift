/// The memory behind an ``AudioFrame``: a GStreamer buffer, or memory of the program.
///
/// Conforming types are reference-counted handles on samples that do not change while more than one
/// reference exists.
/// Thread: any, for all members.
public protocol AudioFrameStorage: AnyObject, Sendable {
    /// The format of the samples.
    var format: AudioFormat { get }

    /// The number of samples of each channel.
    var sampleCount: Int { get }

    /// Whether nothing outside this object can access the samples, so that they may be written in
    /// place.
    var isWritable: Bool { get }

    /// Maps the samples, calls `body` once and unmaps them.
    func read(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError)

    /// Maps the samples for writing, calls `body` once and unmaps them. Called only if
    /// ``isWritable`` is true and only one frame holds this storage.
    func write(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError)

    /// Returns a copy of a range of the samples, in new memory.
    func copy(_ samples: Range<Int>) throws(FrameError) -> any AudioFrameStorage
}

/// Audio mapped by its storage: the planes, valid only inside the closure that receives them.
///
/// Storages create this value; programs get spans from ``AudioFrame/withBytes(plane:_:)`` and
/// similar methods.
public struct AudioPlanes: ~Copyable {
    /// The memory of each plane. It begins with the first sample and holds at least all samples.
    let planes: [UnsafeMutableRawBufferPointer]

    /// Creates the value from mapped memory.
    ///
    /// - Parameter planes: As many as ``AudioFormat/planes``, each at least as long as its samples.
    ///   The memory must stay valid while this value exists. It is written to only if it was mapped
    ///   for writing.
    public init(unsafe planes: [UnsafeMutableRawBufferPointer]) { self.planes = planes }
}
