/// A picture mapped for reading: its planes, valid only inside the closure that receives them.
///
/// Storages create this value; programs get it from ``VideoFrame/withPlanes(_:)``.
public struct VideoPlanes: ~Copyable {
    private let planes: [MappedPlane]
    /// The format of the whole picture.
    public let format: VideoFormat

    /// Creates the value from mapped memory.
    ///
    /// - Parameters:
    ///   - planes: Memory that must stay valid and unchanged while this value exists.
    ///   - format: The format of the whole picture.
    public init(unsafe planes: [MappedPlane], format: VideoFormat) {
        self.planes = planes
        self.format = format
    }

    /// The number of planes: three for `I420`, two for `NV12`, one for `BGRA`.
    public var count: Int { planes.count }

    /// The plane for reading. Traps if there is no such plane.
    public subscript(index: Int) -> VideoPlane {
        @_lifetime(borrow self)
        get {
            let plane = VideoPlane(
                unsafe: UnsafeRawBufferPointer(planes[index].memory), layout: planes[index].layout)
            return unsafe _overrideLifetime(plane, borrowing: self)
        }
    }
}

/// A picture mapped for writing, valid only inside the closure that receives it.
public struct MutableVideoPlanes: ~Copyable {
    private let planes: [MappedPlane]
    /// The format, stored in an array because the compiler (Swift 6.3) crashes on a mutable
    /// subscript of a structure that holds a `String`.
    private let formats: [VideoFormat]
    /// The format of the whole picture.
    public var format: VideoFormat { formats[0] }

    /// Creates the value from mapped memory.
    ///
    /// - Parameters:
    ///   - planes: Memory that must stay valid while this value exists, and that nothing else
    ///     accesses.
    ///   - format: The format of the whole picture.
    public init(unsafe planes: [MappedPlane], format: VideoFormat) {
        self.planes = planes
        formats = [format]
    }

    /// The number of planes.
    public var count: Int { planes.count }

    /// Returns a plane for writing. Traps if there is no such plane.
    @_lifetime(&self)
    mutating func plane(_ index: Int) -> MutableVideoPlane {
        let plane = MutableVideoPlane(
            unsafe: planes[index].memory, layout: planes[index].layout)
        return unsafe _overrideLifetime(plane, mutating: &self)
    }
}

/// A plane's memory and its layout, as a storage provides them.
public struct MappedPlane {
    /// The memory, beginning with the first row.
    public let memory: UnsafeMutableRawBufferPointer
    /// The layout of rows and samples in ``memory``.
    public let layout: VideoPlaneLayout

    /// Creates a mapped plane; the memory is not checked.
    public init(memory: UnsafeMutableRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }
}
