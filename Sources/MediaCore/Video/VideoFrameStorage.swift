/// The memory behind a ``VideoFrame``: a GStreamer buffer, or memory of the program.
///
/// Conforming types are reference-counted handles on pixels that do not change while more than one
/// reference exists. Thread: any, for all members.
@usableFromInline package protocol VideoFrameStorage: AnyObject, Sendable {
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
    package var size: VideoSize { format.size }
}

// MARK: The program's memory

/// Pixels in memory that the program provides, wrapped without a copy. The memory is released after
/// the last frame and the last pipeline that use it have released it.
package final class MemoryFrameStorage: VideoFrameStorage {
    package let format: VideoFormat
    package var size: VideoSize { format.size }
    /// Where each plane lies in the memory.
    package let planes: [VideoPlaneLayout]
    private let memory: SharedMemory
    /// Whether the program provided the memory, so that releasing it runs the program's code.
    package var isOfProgram: Bool { memory.isOfProgram }

    /// Wraps `memory` without copying it.
    ///
    /// - Parameters:
    ///   - memory: Must stay valid until `release` is called, and unchanged unless `writable` is
    ///     true.
    ///   - format: Pixel format, size and frame rate.
    ///   - planes: Where each plane lies. Checked against the size of the memory here, and against
    ///     the format when the frame reaches a pipeline.
    ///   - writable: Whether `VideoFrame.withMutablePlanes` may write in place instead of
    ///     copying.
    ///   - release: Called once, on any thread, when nothing reads the memory any more. Not called
    ///     if this initializer throws: the caller then keeps the memory.
    /// - Throws: ``FrameError`` with ``FrameError/Code/badLayout`` if the planes do not fit into
    ///   the memory.
    package convenience init(
        unsafeNoCopy memory: UnsafeMutableRawBufferPointer,
        format: VideoFormat,
        planes: [VideoPlaneLayout],
        writable: Bool = false,
        release: @escaping @Sendable () -> Void
    ) throws(FrameError) {
        try Self.check(planes, count: memory.count)
        self.init(
            SharedMemory(ofProgram: memory, isWritable: writable, release: release),
            format: format, checked: planes)
    }

    /// - Parameter planes: Must have been checked against the memory.
    private init(_ memory: SharedMemory, format: VideoFormat, checked planes: [VideoPlaneLayout]) {
        self.format = format
        self.planes = planes
        self.memory = memory
    }

    /// Allocates zeroed memory for the planes.
    ///
    /// - Throws: ``FrameError`` if the planes are not valid or there is no memory.
    package convenience init(format: VideoFormat, planes: [VideoPlaneLayout]) throws(FrameError) {
        let memory = try Self.allocate(for: planes)
        memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        self.init(memory, format: format, checked: planes)
    }

    /// Creates a copy of the planes that `source` describes in `bytes`, laid out as `target` says.
    ///
    /// - Parameters:
    ///   - source: Must lie within `bytes`, and have as many planes as `target`, with rows at least
    ///     as long.
    convenience init(
        copying bytes: UnsafeRawBufferPointer, from source: [VideoPlaneLayout],
        to target: [VideoPlaneLayout], format: VideoFormat
    ) throws(FrameError) {
        try Self.check(source, count: bytes.count)
        try VideoPlaneLayout.check(source, against: target, of: format)
        let memory = try Self.allocate(for: target)
        for (from, to) in zip(source, target) { Self.copyRows(bytes, from, memory.bytes, to) }
        self.init(memory, format: format, checked: target)
    }

    /// Creates a copy of another storage's picture, or of the part that `crop` leaves, without
    /// padding.
    package convenience init(
        packing storage: any VideoFrameStorage, crop: VideoCrop = VideoCrop()
    ) throws(FrameError) {
        var format = storage.format
        let size = format.size
        guard let kept = crop.size(of: size) else {
            throw FrameError(.badLayout, "\(crop) leaves nothing of \(size)")
        }
        (format.width, format.height) = (kept.width, kept.height)
        let target = try format.pixelFormat.packedPlanes(kept)
        let memory = try Self.allocate(for: target)
        var refusal: FrameError?
        try storage.read { planes in
            do throws(FrameError) {
                guard planes.count == target.count else {
                    throw FrameError(
                        .badLayout,
                        "\(planes.count) planes, but \(format) has \(target.count)")
                }
                for (index, to) in target.enumerated() {
                    let plane = planes[index]
                    var layout = plane.layout
                    layout.offset = 0  // the plane's memory begins with its first row
                    let from = crop.applied(to: [layout], of: size)
                    try plane.withUnsafeBytes { bytes throws(FrameError) in
                        try Self.check(from, count: bytes.count)
                        guard from[0].rows == to.rows, from[0].rowBytes >= to.rowBytes else {
                            throw FrameError(
                                .badLayout, "plane \(index) is smaller than the frame")
                        }
                        Self.copyRows(bytes, from[0], memory.bytes, to)
                    }
                }
            } catch { refusal = error }
        }
        if let refusal { throw refusal }
        self.init(memory, format: format, checked: target)
    }

    /// Copies the rows of one plane.
    ///
    /// - Parameter from: Must have been checked against `bytes`, and be at least as large as `to`.
    private static func copyRows(
        _ bytes: UnsafeRawBufferPointer, _ from: VideoPlaneLayout,
        _ memory: UnsafeMutableRawBufferPointer, _ to: VideoPlaneLayout
    ) {
        for y in 0..<to.rows {
            let row = bytes[(from.offset + y * from.stride)...].prefix(to.rowBytes)
            UnsafeMutableRawBufferPointer(
                rebasing: memory[(to.offset + y * to.stride)...].prefix(to.rowBytes)
            ).copyMemory(from: UnsafeRawBufferPointer(rebasing: row))
        }
    }

    /// Returns the offset at which a plane ends, including the padding of its last row; `nil` if it
    /// overflows.
    private static func end(of plane: VideoPlaneLayout) -> Int? {
        let (body, tooLong) = plane.stride.multipliedReportingOverflow(by: plane.rows)
        let (end, tooFar) = body.addingReportingOverflow(plane.offset)
        return tooLong || tooFar ? nil : end
    }

    private static func reach(_ planes: [VideoPlaneLayout]) -> Int {
        planes.map { end(of: $0) ?? .max }.max() ?? 0
    }

    /// Checks the planes, and allocates uninitialised memory for them.
    private static func allocate(for planes: [VideoPlaneLayout]) throws(FrameError) -> SharedMemory
    {
        guard planes.allSatisfy({ end(of: $0) != nil }) else {
            throw FrameError(.badLayout, "the planes exceed the address space")
        }
        let size = reach(planes)
        try check(planes, count: size)
        return try SharedMemory(allocating: size, for: "a frame")
    }

    private static func check(_ planes: [VideoPlaneLayout], count: Int) throws(FrameError) {
        guard !planes.isEmpty else { throw FrameError(.badLayout, "a frame without planes") }
        for (index, plane) in planes.enumerated() {
            guard plane.offset >= 0, plane.rows > 0, plane.width > 0, plane.stride > 0,
                plane.pixelStride >= 0
            else {
                throw FrameError(.badLayout, "plane \(index): an offset or size is out of range")
            }
            guard plane.pixelStride == 0 || plane.stride / plane.pixelStride >= plane.width else {
                throw FrameError(
                    .badLayout,
                    "plane \(index): a stride of \(plane.stride) bytes is too small for a row of "
                        + "\(plane.width) samples of \(plane.pixelStride) bytes")
            }
            let (body, overflow) = plane.stride.multipliedReportingOverflow(by: plane.rows - 1)
            guard !overflow, plane.offset <= count, body <= count - plane.offset,
                plane.rowBytes <= count - plane.offset - body
            else {
                throw FrameError(
                    .badLayout,
                    "plane \(index): \(plane.rows) rows of \(plane.stride) bytes at offset "
                        + "\(plane.offset) end beyond the memory's \(count) bytes")
            }
        }
    }

    package var isWritable: Bool { memory.isWritable }

    /// The wrapped memory. Valid while this object is referenced; only ``write(_:)`` may write to
    /// it.
    package var bytes: UnsafeMutableRawBufferPointer { memory.bytes }

    private var mapped: PlaneList {
        PlaneList(count: planes.count) { index in
            let plane = planes[index]
            let end = min(memory.count, Self.end(of: plane) ?? .max)
            return MappedPlane(
                memory: UnsafeMutableRawBufferPointer(rebasing: bytes[plane.offset..<end]),
                layout: plane)
        }
    }

    package func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError) {
        body(VideoPlanes(unsafe: mapped, format: format))
    }

    package func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError) {
        var planes = MutableVideoPlanes(unsafe: mapped, formats: [format])
        body(&planes)
    }

    package func copy() throws(FrameError) -> any VideoFrameStorage {
        let count = min(memory.count, Self.reach(planes))
        let copy = try SharedMemory(allocating: count, for: "a frame")
        copy.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        return MemoryFrameStorage(copy, format: format, checked: planes)
    }
}
