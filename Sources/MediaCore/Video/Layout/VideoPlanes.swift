/// A picture mapped for reading: its planes, valid only in the scope that was given them.
///
/// Storages make it; users meet it in ``VideoFrame/withPlanes(_:)``.
public struct VideoPlanes: ~Copyable {
    private let planes: [MappedPlane]
    /// The format of the whole picture.
    public let format: VideoFormat

    /// - Parameter planes: Memory that stays valid and unchanged while the value lives.
    public init(unsafe planes: [MappedPlane], format: VideoFormat) {
        self.planes = planes
        self.format = format
    }

    /// Planes in the picture: three for `I420`, two for `NV12`, one for `BGRA`.
    public var count: Int { planes.count }

    /// Traps on a plane that is not there.
    public subscript(index: Int) -> VideoPlane {
        @_lifetime(borrow self)
        get {
            let plane = VideoPlane(
                unsafe: UnsafeRawBufferPointer(planes[index].memory), layout: planes[index].layout)
            return unsafe _overrideLifetime(plane, borrowing: self)
        }
    }
}

/// A picture mapped for writing, valid only in the scope that was given it.
public struct MutableVideoPlanes: ~Copyable {
    private let planes: [MappedPlane]
    /// The one format, in memory of its own: the compiler (Swift 6.3) crashes on a mutable subscript of a
    /// structure that holds a `String`.
    private let formats: [VideoFormat]
    /// The format of the whole picture.
    public var format: VideoFormat { formats[0] }

    /// - Parameter planes: Memory that stays valid while the value lives, and that nobody else sees.
    public init(unsafe planes: [MappedPlane], format: VideoFormat) {
        self.planes = planes
        formats = [format]
    }

    /// Planes in the picture.
    public var count: Int { planes.count }

    /// Traps on a plane that is not there.
    @_lifetime(&self)
    public mutating func plane(_ index: Int) -> MutableVideoPlane {
        let plane = MutableVideoPlane(
            unsafe: planes[index].memory, layout: planes[index].layout)
        return unsafe _overrideLifetime(plane, mutating: &self)
    }
}

/// A plane's memory and its layout, as a storage hands it over.
public struct MappedPlane {
    /// From the first row on.
    public let memory: UnsafeMutableRawBufferPointer
    public let layout: VideoPlaneLayout

    public init(memory: UnsafeMutableRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }
}
