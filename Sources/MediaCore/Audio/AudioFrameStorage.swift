/// The memory behind an ``AudioFrame``: a GStreamer buffer, or memory that was allocated for it.
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
    ///
    /// - Parameter body: Gets the memory of each plane, which it must not write to, and which is
    ///   valid only while it runs. A plane begins with the first sample.
    func read(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) throws(FrameError)

    /// Does the same for writing. Called only if ``isWritable`` is true and only one frame holds
    /// this storage.
    func write(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) throws(FrameError)
}

/// Audio samples in newly allocated memory, with the planes one after the other.
package final class MemoryAudioStorage: AudioFrameStorage {
    package let format: AudioFormat
    package let sampleCount: Int
    private let memory: SharedMemory

    /// Allocates memory and calls `fill` with its planes to initialise it.
    private init(
        _ format: AudioFormat, sampleCount: Int,
        fill: ([UnsafeMutableRawBufferPointer]) -> Void = { _ in }
    ) throws(FrameError) {
        let plane = try Self.planeSize(format, sampleCount)
        let (size, overflow) = plane.multipliedReportingOverflow(by: format.planes)
        guard !overflow else { throw FrameError(.outOfMemory, "too many samples for a frame") }
        memory = try SharedMemory(allocating: size, for: "audio")
        self.format = format
        self.sampleCount = sampleCount
        fill(planes)
    }

    /// Creates silence.
    ///
    /// - Throws: ``FrameError`` if the format is out of range or there is no memory.
    package convenience init(format: AudioFormat, sampleCount: Int) throws(FrameError) {
        try self.init(format, sampleCount: sampleCount) { planes in
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
        try self.init(format, sampleCount: bytes.count / step)
        memory.bytes.copyMemory(from: bytes)
    }

    /// Creates a copy of a part of another storage.
    ///
    /// - Parameters:
    ///   - storage: The storage to copy from.
    ///   - samples: The range of samples of each channel; must lie within the storage.
    package convenience init(
        copying storage: any AudioFrameStorage, samples: Range<Int>
    ) throws(FrameError) {
        guard samples.lowerBound >= 0, samples.upperBound <= storage.sampleCount else {
            throw FrameError(
                .badLayout, "samples \(samples) are out of range: there are \(storage.sampleCount)")
        }
        try self.init(storage.format, sampleCount: samples.count)
        let (copies, start) = (planes, samples.lowerBound * format.sampleStride)
        var isShort = false
        try storage.read { planes in
            for (from, to) in zip(planes, copies) {
                let part = from.dropFirst(start).prefix(to.count)
                isShort = isShort || part.count < to.count
                to.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            }
        }
        if isShort {
            throw FrameError(
                .badLayout, "a plane is shorter than its \(storage.sampleCount) samples")
        }
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

    package var isWritable: Bool { true }

    /// The memory of all planes. Valid while this object is referenced; only ``write(_:)`` may
    /// write to it.
    package var bytes: UnsafeMutableRawBufferPointer { memory.bytes }

    private var planes: [UnsafeMutableRawBufferPointer] {
        let size = sampleCount * format.sampleStride
        return (0..<format.planes).map {
            UnsafeMutableRawBufferPointer(rebasing: bytes[$0 * size..<($0 + 1) * size])
        }
    }

    package func read(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) { body(planes) }

    package func write(_ body: ([UnsafeMutableRawBufferPointer]) -> Void) { body(planes) }
}
