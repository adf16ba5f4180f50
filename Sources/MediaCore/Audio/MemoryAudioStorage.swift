internal import Glibc

/// Samples in memory that the program brings: wrapped, never copied, and let go of when the last frame,
/// and the last pipeline that was given it, is done.
public final class MemoryAudioStorage: AudioFrameStorage {
    public let format: AudioFormat
    public let sampleCount: Int
    /// Bytes from the start of the memory to each plane.
    public let planeOffsets: [Int]
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
    ///   - sampleCount: Samples of each channel.
    ///   - planeOffsets: Where each plane begins, in bytes; `nil` for one right after the other.
    ///   - writable: Whether ``AudioFrame/withMutableBytes(plane:_:)`` may write here, rather than copy.
    ///   - release: Called once, on any thread, when nothing reads the memory any more. Not called
    ///     where this throws: the memory is the caller's still.
    public convenience init(
        unsafeNoCopy memory: UnsafeMutableRawBufferPointer, format: AudioFormat, sampleCount: Int,
        planeOffsets: [Int]? = nil, writable: Bool = false,
        release: @escaping @Sendable () -> Void
    ) throws(FrameError) {
        try self.init(
            memory, format, sampleCount: sampleCount, planeOffsets: planeOffsets,
            writable: writable, isOfProgram: true, release)
    }

    private init(
        _ memory: UnsafeMutableRawBufferPointer, _ format: AudioFormat, sampleCount: Int,
        planeOffsets: [Int]?, writable: Bool, isOfProgram: Bool,
        _ release: @escaping @Sendable () -> Void
    ) throws(FrameError) {
        let plane = try Self.planeSize(format, sampleCount)
        let offsets = planeOffsets ?? (0..<format.planes).map { $0 * plane }
        guard offsets.count == format.planes,
            offsets.allSatisfy({ $0 >= 0 && $0 <= memory.count && memory.count - $0 >= plane })
        else {
            throw FrameError(
                .badLayout,
                "\(sampleCount) samples of \(format) do not fit into \(memory.count) bytes")
        }
        self.format = format
        self.sampleCount = sampleCount
        self.planeOffsets = offsets
        self.memory = Memory(
            address: UInt(bitPattern: memory.baseAddress), count: memory.count, writable: writable)
        self.release = release
        self.isOfProgram = isOfProgram
    }

    /// Silence, in memory of its own.
    ///
    /// - Parameter sampleCount: Samples of each channel.
    public convenience init(format: AudioFormat, sampleCount: Int) throws(FrameError) {
        try self.init(format: format, sampleCount: sampleCount) { planes in
            planes.forEach { format.sampleFormat.silence($0) }
        }
    }

    /// A copy of samples that lie in memory as `format` says, planes one right after the other.
    ///
    /// - Throws: ``FrameError`` with ``FrameError/Code/badLayout`` where the bytes are no whole number of
    ///   samples of every channel, or none.
    public convenience init(
        copying bytes: UnsafeRawBufferPointer, format: AudioFormat
    ) throws(FrameError) {
        let step = try Self.planeSize(format, 1) * format.planes
        guard !bytes.isEmpty, bytes.count.isMultiple(of: step) else {
            throw FrameError(
                .badLayout, "\(bytes.count) bytes are no whole number of samples of \(format)")
        }
        try self.init(format: format, sampleCount: bytes.count / step) { planes in
            var rest = bytes
            for plane in planes {
                plane.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(plane.count)))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(plane.count))
            }
        }
    }

    /// A copy of a part of another storage.
    ///
    /// - Parameter samples: Of each channel; within the storage.
    public convenience init(
        copying storage: any AudioFrameStorage, samples: Range<Int>
    ) throws(FrameError) {
        let format = storage.format
        guard samples.lowerBound >= 0, samples.upperBound <= storage.sampleCount else {
            throw FrameError(
                .badLayout, "samples \(samples) of \(storage.sampleCount)")
        }
        var refusal: FrameError?
        try self.init(format: format, sampleCount: samples.count) { copies in
            do throws(FrameError) {
                try storage.read { source in
                    for (from, to) in zip(source.planes, copies) {
                        guard from.count >= samples.upperBound * format.sampleStride else {
                            refusal = FrameError(
                                .badLayout,
                                "a plane shorter than its \(storage.sampleCount) samples")
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

    /// Memory of its own, which `fill` initialises: it is given the planes.
    public convenience init(
        format: AudioFormat, sampleCount: Int, fill: ([UnsafeMutableRawBufferPointer]) -> Void
    ) throws(FrameError) {
        let plane = try Self.planeSize(format, sampleCount)
        let (size, overflow) = plane.multipliedReportingOverflow(by: format.planes)
        guard !overflow else { throw FrameError(.outOfMemory, "no memory for such a sound") }
        var start: UnsafeMutableRawPointer?
        guard posix_memalign(&start, 64, max(1, size)) == 0, let start else {
            throw FrameError(.outOfMemory, "no memory for a sound of \(size) bytes")
        }
        let memory = UnsafeMutableRawBufferPointer(start: start, count: size)
        fill(
            (0..<format.planes).map {
                UnsafeMutableRawBufferPointer(rebasing: memory[$0 * plane..<($0 + 1) * plane])
            })
        let address = UInt(bitPattern: start)
        try self.init(
            memory, format, sampleCount: sampleCount, planeOffsets: nil, writable: true,
            isOfProgram: false
        ) {
            free(UnsafeMutableRawPointer(bitPattern: address))
        }
    }

    deinit { release() }

    /// Bytes of a plane, where there can be one.
    private static func planeSize(
        _ format: AudioFormat, _ sampleCount: Int
    ) throws(FrameError) -> Int {
        guard format.isValid else {
            throw FrameError(
                .badFormat,
                "no sound has \(format.sampleRate) Hz, \(format.channels) channels and the mask "
                    + String(format.channelMask, radix: 16))
        }
        let (size, overflow) = sampleCount.multipliedReportingOverflow(by: format.sampleStride)
        guard sampleCount >= 0, !overflow else {
            throw FrameError(.badLayout, "no sound has \(sampleCount) samples")
        }
        return size
    }

    public var isWritable: Bool { memory.writable }

    /// The wrapped memory. Valid while this object is held; written to by nobody but ``write(_:)``.
    public var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: memory.address), count: memory.count)
    }

    private var mapped: AudioPlanes {
        let size = sampleCount * format.sampleStride
        return AudioPlanes(
            unsafe: planeOffsets.map {
                UnsafeMutableRawBufferPointer(rebasing: bytes[$0..<$0 + size])
            })
    }

    public func read(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError) { body(mapped) }

    public func write(_ body: (borrowing AudioPlanes) -> Void) throws(FrameError) { body(mapped) }

    public func copy(_ samples: Range<Int>) throws(FrameError) -> any AudioFrameStorage {
        try MemoryAudioStorage(copying: self, samples: samples)
    }
}
