internal import Glibc

/// Pixels in memory that the program brings: wrapped, never copied, and let go of when the last
/// frame, and the last pipeline that was given it, is done.
public final class MemoryFrameStorage: VideoFrameStorage {
    public let format: VideoFormat
    public let planes: [VideoPlaneLayout]
    private let memory: Memory
    private let release: @Sendable () -> Void
    /// Whether the memory is the program's, and its end runs the program's code.
    package let isOfProgram: Bool

    /// Plain numbers, so that the class is Sendable without an unchecked promise.
    private struct Memory: Sendable {
        let address: UInt
        let count: Int
        let writable: Bool
    }

    /// Wraps `memory`.
    ///
    /// - Parameters:
    ///   - memory: Must stay valid until `release` is called, and unchanged unless `writable`.
    ///   - planes: Where each plane lies; checked against the memory's size here, and against the format
    ///     where they reach a pipeline.
    ///   - writable: Whether ``VideoFrame/withMutablePlanes(_:)`` may write here, rather than copy.
    ///   - release: Called once, on any thread, when nothing reads the memory any more. Not called
    ///     where this throws: the memory is the caller's still.
    public convenience init(
        unsafeNoCopy memory: UnsafeMutableRawBufferPointer,
        format: VideoFormat,
        planes: [VideoPlaneLayout],
        writable: Bool = false,
        release: @escaping @Sendable () -> Void
    ) throws(FrameError) {
        try self.init(memory, format, planes, writable: writable, isOfProgram: true, release)
    }

    private init(
        _ memory: UnsafeMutableRawBufferPointer, _ format: VideoFormat,
        _ planes: [VideoPlaneLayout], writable: Bool, isOfProgram: Bool,
        _ release: @escaping @Sendable () -> Void
    ) throws(FrameError) {
        try Self.check(planes, count: memory.count)
        self.format = format
        self.planes = planes
        self.memory = Memory(
            address: UInt(bitPattern: memory.baseAddress), count: memory.count, writable: writable)
        self.release = release
        self.isOfProgram = isOfProgram
    }

    /// Zeroed memory of its own.
    public convenience init(format: VideoFormat, planes: [VideoPlaneLayout]) throws(FrameError) {
        guard planes.allSatisfy({ Self.end(of: $0) != nil }) else {
            throw FrameError(.badLayout, "planes that end beyond any memory")
        }
        let size = Self.reach(planes)
        try Self.check(planes, count: size)
        let memory = try Self.allocate(size)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        try self.init(owning: memory, format: format, planes: planes)
    }

    /// Takes over memory that ``allocate(_:)`` made.
    private convenience init(
        owning memory: UnsafeMutableRawBufferPointer, format: VideoFormat,
        planes: [VideoPlaneLayout]
    ) throws(FrameError) {
        let address = UInt(bitPattern: memory.baseAddress)
        try self.init(memory, format, planes, writable: true, isOfProgram: false) {
            free(UnsafeMutableRawPointer(bitPattern: address))
        }
    }

    /// A copy of what lies in `bytes` as `source` says, laid out as `target` says.
    ///
    /// - Parameters:
    ///   - source: Inside of `bytes`; as many planes as `target`, with rows at least as long.
    convenience init(
        copying bytes: UnsafeRawBufferPointer, from source: [VideoPlaneLayout],
        to target: [VideoPlaneLayout], format: VideoFormat
    ) throws(FrameError) {
        try Self.check(source, count: bytes.count)
        try VideoPlaneLayout.check(source, against: target, of: format)
        let memory = try Self.allocate(Self.reach(target))
        for (from, to) in zip(source, target) { Self.copyRows(bytes, from, memory, to) }
        try self.init(owning: memory, format: format, planes: target)
    }

    /// The picture of another storage, or the part of it that `crop` leaves, without padding.
    convenience init(
        packing storage: any VideoFrameStorage, crop: VideoCrop = VideoCrop()
    ) throws(FrameError) {
        var format = storage.format
        let size = VideoSize(width: format.width, height: format.height)
        guard let kept = crop.size(of: size) else {
            throw FrameError(.badLayout, "\(crop) leaves nothing of \(size)")
        }
        (format.width, format.height) = (kept.width, kept.height)
        let target = try format.pixelFormat.packedPlanes(kept)
        let memory = try Self.allocate(Self.reach(target))
        do throws(FrameError) {
            var refusal: FrameError?
            try storage.read { planes in
                do throws(FrameError) {
                    guard planes.count == target.count else {
                        throw FrameError(
                            .badLayout,
                            "\(planes.count) planes, where \(format) has \(target.count)")
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
                                    .badLayout, "plane \(index) is smaller than the picture")
                            }
                            Self.copyRows(bytes, from[0], memory, to)
                        }
                    }
                } catch { refusal = error }
            }
            if let refusal { throw refusal }
        } catch {
            free(memory.baseAddress)
            throw error
        }
        try self.init(owning: memory, format: format, planes: target)
    }

    /// - Parameter from: Checked against `bytes`, and at least as large as `to`.
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

    /// Where a plane ends, the padding of its last row included; `nil` where that does not fit.
    private static func end(of plane: VideoPlaneLayout) -> Int? {
        let (body, tooLong) = plane.stride.multipliedReportingOverflow(by: plane.rows)
        let (end, tooFar) = body.addingReportingOverflow(plane.offset)
        return tooLong || tooFar ? nil : end
    }

    private static func reach(_ planes: [VideoPlaneLayout]) -> Int {
        planes.map { end(of: $0) ?? .max }.max() ?? 0
    }

    /// Uninitialised; Swift's own allocation would end the process where there is no memory.
    private static func allocate(
        _ size: Int
    ) throws(FrameError) -> UnsafeMutableRawBufferPointer {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, size) == 0, let memory else {
            throw FrameError(.outOfMemory, "no memory for a picture of \(size) bytes")
        }
        return UnsafeMutableRawBufferPointer(start: memory, count: size)
    }

    deinit { release() }

    private static func check(_ planes: [VideoPlaneLayout], count: Int) throws(FrameError) {
        guard !planes.isEmpty else { throw FrameError(.badLayout, "a picture without planes") }
        for (index, plane) in planes.enumerated() {
            guard plane.offset >= 0, plane.rows > 0, plane.width > 0, plane.stride > 0,
                plane.pixelStride >= 0
            else {
                throw FrameError(.badLayout, "plane \(index): a size that is not positive")
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

    public var isWritable: Bool { memory.writable }

    /// The wrapped memory. Valid while this object is held; written to by nobody but ``write(_:)``.
    public var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: memory.address), count: memory.count)
    }

    private var mapped: [MappedPlane] {
        planes.map { plane in
            let end = min(memory.count, Self.end(of: plane) ?? .max)
            return MappedPlane(
                memory: UnsafeMutableRawBufferPointer(rebasing: bytes[plane.offset..<end]),
                layout: plane)
        }
    }

    public func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError) {
        body(VideoPlanes(unsafe: mapped, format: format))
    }

    public func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError) {
        var planes = MutableVideoPlanes(unsafe: mapped, format: format)
        body(&planes)
    }

    public func copy() throws(FrameError) -> any VideoFrameStorage {
        let count = min(memory.count, Self.reach(planes))
        let copy = try Self.allocate(count)
        copy.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        return try MemoryFrameStorage(owning: copy, format: format, planes: planes)
    }
}
