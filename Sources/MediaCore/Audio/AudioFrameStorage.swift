/// The memory behind an ``AudioFrame``: a GStreamer buffer, or memory of the program.
///
/// Conforming types are reference-counted handles on samples that do not change while more than one
/// reference exists.
/// Thread: any, for all members.
package protocol AudioFrameStorage: AnyObject, Sendable {
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
package struct AudioPlanes: ~Copyable {
    /// The memory of each plane. It begins with the first sample and holds at least all samples.
    let planes: [UnsafeMutableRawBufferPointer]

    /// Creates the value from mapped memory.
    ///
    /// - Parameter planes: As many as ``AudioFormat/planes``, each at least as long as its samples.
    ///   The memory must stay valid while this value exists. It is written to only if it was mapped
    ///   for writing.
    package init(unsafe planes: [UnsafeMutableRawBufferPointer]) { self.planes = planes }
}

// MARK: The program's memory

/// Audio samples in memory that the program provides, wrapped without a copy. The memory is
/// released after the last frame and the last pipeline that use it have released it.
package final class MemoryAudioStorage: AudioFrameStorage {
    package let format: AudioFormat
    package let sampleCount: Int
    /// Bytes from the start of the memory to each plane.
    package let planeOffsets: [Int]
    private let memory: SharedMemory
    /// Whether the program provided the memory, so that releasing it runs the program's code.
    package var isOfProgram: Bool { memory.isOfProgram }

    /// Wraps `memory` without copying it.
    ///
    /// - Parameters:
    ///   - memory: Must stay valid until `release` is called, and unchanged unless `writable` is
    ///     true.
    ///   - format: The format of the samples.
    ///   - sampleCount: Samples of each channel.
    ///   - planeOffsets: Bytes from the start of the memory to each plane; `nil` if the planes
    ///     follow each other without gaps.
    ///   - writable: Whether ``AudioFrame/withMutableBytes(plane:_:)`` may write in place instead
    ///     of copying.
    ///   - release: Called once, on any thread, when nothing reads the memory any more. Not called
    ///     if this initializer throws: the caller then keeps the memory.
    /// - Throws: ``FrameError`` if the format is out of range or the planes do not fit into the
    ///   memory.
    package convenience init(
        unsafeNoCopy memory: UnsafeMutableRawBufferPointer, format: AudioFormat, sampleCount: Int,
        planeOffsets: [Int]? = nil, writable: Bool = false,
        release: @escaping @Sendable () -> Void
    ) throws(FrameError) {
        let offsets = try Self.offsets(
            planeOffsets, format, sampleCount: sampleCount, byteCount: memory.count)
        self.init(
            SharedMemory(ofProgram: memory, isWritable: writable, release: release),
            format, sampleCount: sampleCount, offsets: offsets)
    }

    private init(
        _ memory: SharedMemory, _ format: AudioFormat, sampleCount: Int, offsets: [Int]
    ) {
        self.format = format
        self.sampleCount = sampleCount
        planeOffsets = offsets
        self.memory = memory
    }

    /// Returns the offsets of the planes: `asked`, or by default planes without gaps. Throws if a
    /// plane does not lie within the memory.
    private static func offsets(
        _ asked: [Int]?, _ format: AudioFormat, sampleCount: Int, byteCount: Int
    ) throws(FrameError) -> [Int] {
        let plane = try planeSize(format, sampleCount)
        let offsets = asked ?? (0..<format.planes).map { $0 * plane }
        guard offsets.count == format.planes,
            offsets.allSatisfy({ $0 >= 0 && $0 <= byteCount && byteCount - $0 >= plane })
        else {
            throw FrameError(
                .badLayout, "\(sampleCount) samples of \(format) do not fit into \(byteCount) bytes"
            )
        }
        return offsets
    }

    /// Creates silence in newly allocated memory.
    ///
    /// - Throws: ``FrameError`` if the format is out of range or there is no memory.
    package convenience init(format: AudioFormat, sampleCount: Int) throws(FrameError) {
        try self.init(format: format, sampleCount: sampleCount) { planes in
            planes.forEach { format.sampleFormat.silence($0) }
        }
    }

    /// Creates a copy of samples that lie in memory as `format` says, with the planes one after the
    /// other.
    ///
    /// - Throws: ``FrameError`` with ``FrameError/Code/badLayout`` if `bytes` is empty or does not
    ///   have the same number of samples for every channel.
    package convenience init(
        copying bytes: UnsafeRawBufferPointer, format: AudioFormat
    ) throws(FrameError) {
        let step = try Self.planeSize(format, 1) * format.planes
        guard !bytes.isEmpty, bytes.count.isMultiple(of: step) else {
            throw FrameError(
                .badLayout, "\(bytes.count) bytes are not a whole number of samples of \(format)")
        }
        try self.init(format: format, sampleCount: bytes.count / step) { planes in
            var rest = bytes
            for plane in planes {
                plane.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(plane.count)))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(plane.count))
            }
        }
    }

    /// Creates a copy of a part of another storage.
    ///
    /// - Parameters:
    ///   - storage: The storage to copy from.
    ///   - samples: The range of samples of each channel; must lie within the storage.
    package convenience init(
        copying storage: any AudioFrameStorage, samples: Range<Int>
    ) throws(FrameError) {
        let format = storage.format
        guard samples.lowerBound >= 0, samples.upperBound <= storage.sampleCount else {
            throw FrameError(
                .badLayout, "samples \(samples) are out of range: there are \(storage.sampleCount)")
        }
        var refusal: FrameError?
        try self.init(format: format, sampleCount: samples.count) { copies in
            do throws(FrameError) {
                try storage.read { source in
                    for (from, to) in zip(source.planes, copies) {
                        guard from.count >= samples.upperBound * format.sampleStride else {
                            refusal = FrameError(
                                .badLayout,
                                "a plane is shorter than its \(storage.sampleCount) samples")
                            return
                        }
                        let part = from.dropFirst(samples.lowerBound * format.sampleStride)
                        to.copyMemory(
                            from: UnsafeRawBufferPointer(rebasing: part.prefix(to.count)))
                    }
                }
            } catch { refusal = error }
        }
        if let refusal { throw refusal }
    }

    /// Allocates memory and calls `fill` with its planes to initialise it.
    package convenience init(
        format: AudioFormat, sampleCount: Int, fill: ([UnsafeMutableRawBufferPointer]) -> Void
    ) throws(FrameError) {
        let plane = try Self.planeSize(format, sampleCount)
        let (size, overflow) = plane.multipliedReportingOverflow(by: format.planes)
        guard !overflow else { throw FrameError(.outOfMemory, "too many samples for a frame") }
        let memory = try SharedMemory(allocating: size, for: "audio")
        let offsets = (0..<format.planes).map { $0 * plane }
        fill(
            offsets.map {
                UnsafeMutableRawBufferPointer(rebasing: memory.bytes[$0..<$0 + plane])
            })
        self.init(memory, format, sampleCount: sampleCount, offsets: offsets)
    }

    /// Returns the number of bytes of one plane.
    ///
    /// - Throws: ``FrameError`` if the format is out of range or the number of samples is negative
    ///   or too large.
    private static func planeSize(
        _ format: AudioFormat, _ sampleCount: Int
    ) throws(FrameError) -> Int {
        guard format.isValid else {
            throw FrameError(
                .badFormat,
                "invalid audio format: \(format.sampleRate) Hz, \(format.channels) channels, mask "
                    + String(format.channelMask, radix: 16))
        }
        let (size, overflow) = sampleCount.multipliedReportingOverflow(by: format.sampleStride)
        guard sampleCount >= 0, !overflow else {
            throw FrameError(.badLayout, "an audio frame cannot have \(sampleCount) samples")
        }
        return size
    }

    package var isWritable: Bool { memory.isWritable }

    /// The wrapped memory. Valid while this object is referenced; only ``write(_:)`` may write to
    /// it.
    package var bytes: UnsafeMutableRawBufferPointer { memory.bytes }

    private var mapped: AudioPlanes {
        let size = sampleCount * format.sampleStride
        return AudioPlanes(
            unsafe: planeOffsets.map {
                UnsafeMutableRawBufferPointer(rebasing: bytes[$0..<$0 + size])
            })
    }

    package func read(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError) { body(mapped) }

    package func write(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError) { body(mapped) }

    package func copy(_ samples: Range<Int>) throws(FrameError) -> any AudioFrameStorage {
        try MemoryAudioStorage(copying: self, samples: samples)
    }
}
