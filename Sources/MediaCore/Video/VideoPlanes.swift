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
    ///   - planes: In memory that must stay valid and unchanged while this value exists.
    ///   - format: The format of the whole picture.
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
    ///   - planes: In memory that must stay valid while this value exists, and that nothing else
    ///     accesses.
    ///   - formats: An array that contains only the format of the whole picture, made once for many
    ///     pictures.
    package init(unsafe planes: PlaneList, formats: [VideoFormat]) {
        self.planes = planes
        self.formats = formats
    }

    /// The number of planes.
    public var count: Int { planes.count }

    /// The plane, for writing. Traps if there is no such plane.
    ///
    /// ```swift
    /// try frame.withMutablePlanes { planes in
    ///     var row = planes[0].row(7)
    ///     for x in row.indices { row[x] = 235 }
    ///     planes[1].fill(128)
    /// }
    /// ```
    public subscript(index: Int) -> MutableVideoPlane {
        @_lifetime(&self)
        mutating get { plane(index) }
        @_lifetime(&self)
        mutating _modify {
            var plane = plane(index)
            yield &plane
        }
    }

    /// Calls `body` with both planes at the same time.
    ///
    /// - Throws: ``FrameError`` unless the format has two planes, and any error that `body` throws.
    mutating func separated<R>(
        _ body: (inout MutableVideoPlane, inout MutableVideoPlane) throws -> R
    ) throws -> R {
        try check(count: 2)
        var first = MutableVideoPlane(unsafe: planes[0].memory, layout: planes[0].layout)
        var second = MutableVideoPlane(unsafe: planes[1].memory, layout: planes[1].layout)
        return try body(&first, &second)
    }

    /// Calls `body` with all three planes at the same time.
    ///
    /// - Throws: ``FrameError`` unless the format has three planes, and any error that `body` throws.
    mutating func separated<R>(
        _ body: (inout MutableVideoPlane, inout MutableVideoPlane, inout MutableVideoPlane) throws
            -> R
    ) throws -> R {
        try check(count: 3)
        var first = MutableVideoPlane(unsafe: planes[0].memory, layout: planes[0].layout)
        var second = MutableVideoPlane(unsafe: planes[1].memory, layout: planes[1].layout)
        var third = MutableVideoPlane(unsafe: planes[2].memory, layout: planes[2].layout)
        return try body(&first, &second, &third)
    }

    private func check(count wanted: Int) throws(FrameError) {
        guard count == wanted else {
            throw FrameError(
                .badLayout, "\(wanted) planes are needed, but \(format) has \(count)")
        }
    }

    @_lifetime(&self)
    private mutating func plane(_ index: Int) -> MutableVideoPlane {
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
package struct MappedPlane {
    /// The memory, beginning with the first row.
    package let memory: UnsafeMutableRawBufferPointer
    /// The layout of rows and samples in ``memory``.
    package let layout: VideoPlaneLayout

    /// Creates a mapped plane; the memory is not checked.
    package init(memory: UnsafeMutableRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    fileprivate static var none: MappedPlane {
        MappedPlane(
            memory: UnsafeMutableRawBufferPointer(start: nil, count: 0),
            layout: VideoPlaneLayout(offset: 0, stride: 0, rows: 0, width: 0))
    }
}

// MARK: One plane

/// One plane of a picture, mapped for reading and valid only inside the closure that mapped it.
///
/// Row `y` begins at byte `y * stride`, independent of the width.
public struct VideoPlane: ~Escapable {
    private let memory: UnsafeRawBufferPointer
    /// The layout of rows and samples in the plane's memory.
    public let layout: VideoPlaneLayout

    @_lifetime(immortal)
    init(unsafe memory: UnsafeRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    /// The number of bytes from one row to the next.
    public var stride: Int { layout.stride }
    /// The number of rows.
    public var rows: Int { layout.rows }
    /// The number of samples in a row.
    public var width: Int { layout.width }

    /// The whole plane including padding, up to the end of the memory.
    public var bytes: RawSpan {
        @_lifetime(copy self)
        get { unsafe _overrideLifetime(memory.bytes, copying: self) }
    }

    /// Returns the bytes of row `y` that hold samples. Traps if there is no such row.
    @_lifetime(copy self)
    public func row(_ y: Int) -> Span<UInt8> {
        let row = UnsafeRawBufferPointer(
            rebasing: memory[layout.bytes(of: y, in: memory.count)])
        return unsafe _overrideLifetime(
            row.assumingMemoryBound(to: UInt8.self).span, copying: self)
    }

    /// Calls `body` with the plane's memory, for C and SIMD code. The pointer must not leave
    /// `body`.
    public func withUnsafeBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(memory)
    }
}

/// One plane of a picture, mapped for writing and valid only inside the closure that mapped it.
public struct MutableVideoPlane: ~Copyable, ~Escapable {
    private let memory: UnsafeMutableRawBufferPointer
    /// The layout of rows and samples in the plane's memory.
    public let layout: VideoPlaneLayout

    @_lifetime(immortal)
    init(unsafe memory: UnsafeMutableRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    /// The number of bytes from one row to the next.
    public var stride: Int { layout.stride }
    /// The number of rows.
    public var rows: Int { layout.rows }
    /// The number of samples in a row.
    public var width: Int { layout.width }

    /// The whole plane including padding, up to the end of the memory.
    public var bytes: MutableRawSpan {
        @_lifetime(&self)
        mutating get { unsafe _overrideLifetime(memory.mutableBytes, mutating: &self) }
    }

    /// Returns the bytes of row `y` that hold samples. Traps if there is no such row.
    @_lifetime(copy self)
    public func row(_ y: Int) -> MutableSpan<UInt8> {
        let row = UnsafeMutableRawBufferPointer(
            rebasing: memory[layout.bytes(of: y, in: memory.count)])
        return unsafe _overrideLifetime(
            row.assumingMemoryBound(to: UInt8.self).mutableSpan, copying: self)
    }

    /// Sets every byte of the plane, including padding.
    public func fill(_ byte: UInt8) {
        unsafe memory.initializeMemory(as: UInt8.self, repeating: byte)
    }

    /// Calls `body` with the plane's memory, for C and SIMD code. The pointer must not leave
    /// `body`.
    public func withUnsafeMutableBytes<R, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(memory)
    }
}

/// The position and layout of one plane of a picture in memory.
public struct VideoPlaneLayout: Equatable, Sendable {
    /// Bytes from the start of the memory to the plane's first row.
    public var offset: Int
    /// Bytes from one row to the next; at least ``rowBytes``, often more.
    public var stride: Int
    /// The number of rows.
    public var rows: Int
    /// The number of samples in a row. For 4:2:0 chroma this is half the picture's width, rounded
    /// up.
    public var width: Int
    /// Bytes from one sample to the next. Zero if that is not a whole number (packed 10 bit).
    public var pixelStride: Int
    /// The number of significant bits in a sample: 8, 10, 12 or 16.
    public var depth: Int

    /// Creates a layout, by default with 8-bit samples of one byte.
    public init(
        offset: Int, stride: Int, rows: Int, width: Int, pixelStride: Int = 1, depth: Int = 8
    ) {
        self.offset = offset
        self.stride = stride
        self.rows = rows
        self.width = width
        self.pixelStride = pixelStride
        self.depth = depth
    }

    /// The number of bytes of a row that hold samples; the rest up to `stride` is padding.
    public var rowBytes: Int {
        guard pixelStride > 0 else { return stride }
        let (bytes, overflow) = width.multipliedReportingOverflow(by: pixelStride)
        return overflow ? stride : min(stride, bytes)
    }

    /// Returns the byte range of row `y` in a plane's memory of `count` bytes that begins with the
    /// first row. Traps if there is no such row, also in release builds.
    func bytes(of y: Int, in count: Int) -> Range<Int> {
        precondition(y >= 0 && y < rows, "row \(y) of \(rows)")
        let (start, isTooFar) = y.multipliedReportingOverflow(by: stride)
        let length = rowBytes
        precondition(
            !isTooFar && start >= 0 && length >= 0 && start <= count && length <= count - start,
            "row \(y) of \(stride) bytes ends beyond the plane's \(count) bytes")
        return start..<start + length
    }

    /// Throws if `planes` do not cover the picture that `needed` describes: a different number of
    /// planes, fewer rows or samples, or a different sample stride. Code that knows only the format
    /// would then read beyond the planes.
    package static func check(
        _ planes: [VideoPlaneLayout], against needed: [VideoPlaneLayout], of format: VideoFormat
    ) throws(FrameError) {
        guard planes.count == needed.count else {
            throw FrameError(
                .badLayout,
                "\(planes.count) planes, but \(format) has \(needed.count)")
        }
        for (index, (plane, needed)) in zip(planes, needed).enumerated() {
            guard plane.rows >= needed.rows, plane.width >= needed.width,
                plane.pixelStride == needed.pixelStride,
                needed.pixelStride > 0 || plane.stride >= needed.stride
            else {
                throw FrameError(
                    .badLayout,
                    "plane \(index): \(plane.rows) rows of \(plane.width) samples of "
                        + "\(plane.pixelStride) bytes, but \(format) needs \(needed.rows) of "
                        + "\(needed.width) of \(needed.pixelStride)")
            }
        }
    }
}
