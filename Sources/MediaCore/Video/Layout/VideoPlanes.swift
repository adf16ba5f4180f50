/// A picture mapped for reading: its planes, valid only inside the closure that receives them.
///
/// Storages create this value; programs get it from ``VideoFrame/withPlanes(_:)``.
public struct VideoPlanes: ~Copyable {
    private let planes: PlaneList
    /// The format of the whole picture.
    public let format: VideoFormat

    /// Creates the value from mapped memory.
    ///
    /// - Parameters:
    ///   - planes: At most four, in memory that must stay valid and unchanged while this value
    ///     exists.
    ///   - format: The format of the whole picture.
    public init(unsafe planes: [MappedPlane], format: VideoFormat) {
        self.init(unsafe: PlaneList(planes), format: format)
    }

    /// Creates the value as ``init(unsafe:format:)`` does, without an allocation.
    package init(unsafe planes: PlaneList, format: VideoFormat) {
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
    private let planes: PlaneList
    /// The format, stored in an array because the compiler (Swift 6.3) crashes on a mutable
    /// subscript of a structure that holds a `String`.
    private let formats: [VideoFormat]
    /// The format of the whole picture.
    public var format: VideoFormat { formats[0] }

    /// Creates the value from mapped memory.
    ///
    /// - Parameters:
    ///   - planes: At most four, in memory that must stay valid while this value exists, and that
    ///     nothing else accesses.
    ///   - format: The format of the whole picture.
    public init(unsafe planes: [MappedPlane], format: VideoFormat) {
        self.init(unsafe: PlaneList(planes), formats: [format])
    }

    /// Creates the value as ``init(unsafe:format:)`` does, without an allocation.
    ///
    /// - Parameter formats: An array that contains only the format, made once for many pictures.
    package init(unsafe planes: PlaneList, formats: [VideoFormat]) {
        self.planes = planes
        self.formats = formats
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

/// The planes of a picture, at most four. Stored inline, so that mapping a picture allocates
/// nothing.
package struct PlaneList {
    // No InlineArray: the compiler (Swift 6.3) crashes on a mutable subscript of a structure that
    // holds one.
    private let first: MappedPlane
    private let second: MappedPlane
    private let third: MappedPlane
    private let fourth: MappedPlane
    package let count: Int

    package init(_ planes: [MappedPlane]) {
        self.init(count: planes.count) { planes[$0] }
    }

    /// Creates the list from `count` planes, which `plane` returns by index.
    package init(count: Int, _ plane: (Int) -> MappedPlane) {
        precondition(count <= 4, "a frame of \(count) planes")
        self.count = count
        first = count > 0 ? plane(0) : .none
        second = count > 1 ? plane(1) : .none
        third = count > 2 ? plane(2) : .none
        fourth = count > 3 ? plane(3) : .none
    }

    subscript(index: Int) -> MappedPlane {
        precondition(index >= 0 && index < count, "plane \(index) of \(count)")
        return switch index {
        case 0: first
        case 1: second
        case 2: third
        default: fourth
        }
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

    fileprivate static var none: MappedPlane {
        MappedPlane(
            memory: UnsafeMutableRawBufferPointer(start: nil, count: 0),
            layout: VideoPlaneLayout(offset: 0, stride: 0, rows: 0, width: 0))
    }
}
