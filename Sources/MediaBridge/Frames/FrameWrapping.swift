internal import MediaBasics
internal import Synchronization

extension VideoFrame {
    /// Returns the frame as a buffer: a frame that came from a pipeline keeps its buffer, and one in
    /// Swift memory is wrapped. No pixels are copied.
    ///
    /// - Throws: ``FrameError`` for memory that outputs do not support, and for planes that do not
    ///   fit the format; ``PipelineError`` for a format that GStreamer does not accept.
    borrowing func wrapped() throws -> ElementChain.BufferWithCaps {
        if let storage = storage as? BufferFrameStorage {
            guard storage.buffer.holds(storage.layout.info) else {
                throw FrameError(tooFewBytes: storage.buffer.byteCount, of: "\(storage.format)")
            }
            return ElementChain.BufferWithCaps(
                buffer: storage.buffer.retained(), caps: storage.layout.caps)
        }
        guard let memory = storage as? MemoryFrameStorage else {
            throw FrameError(.notMappable, "outputs do not support the memory of this frame")
        }
        let layout = try FrameLayout.of(memory.format)
        let bytes = memory.bytes
        let isUsual = memory.planes == layout.planes && bytes.count >= layout.info.byteCount
        if !isUsual { try layout.check(memory.planes) }
        // The closure retains the storage, so the memory stays valid until GStreamer releases the
        // buffer.
        let wrapped = WrappedMemory(memory, isOfProgram: memory.isOfProgram)
        var buffer = Buffer.wrapping(unsafe: bytes, readOnly: true) { wrapped.giveBack() }
        if !isUsual {
            buffer.describeVideo(
                layout.info, offsets: memory.planes.map(\.offset),
                strides: memory.planes.map(\.stride))
        }
        buffer.duration = duration.flatMap { ClockTime($0) }
        return ElementChain.BufferWithCaps(buffer: buffer, caps: layout.caps)
    }
}

// MARK: Audio

extension AudioFrame {
    /// Returns the frame as a buffer whose times are not set yet: a frame that came from a pipeline
    /// keeps its buffer, and one in Swift memory is wrapped. A frame that is cut to a part of its
    /// samples stays cut.
    ///
    /// Samples are copied in two cases only: for a part of planar audio that came from a pipeline,
    /// because GStreamer's elements expect the planes one right after the other, and for more
    /// separate planes than a buffer can hold memories.
    ///
    /// - Throws: ``FrameError`` for memory that outputs do not support, and for a frame without
    ///   samples; ``PipelineError`` for a format that GStreamer does not accept.
    borrowing func wrapped() throws -> ElementChain.BufferWithCaps {
        guard sampleCount > 0 else { throw FrameError(.badLayout, "audio frame without samples") }
        if let storage = storage as? BufferAudioStorage {
            guard storage.buffer.holds(storage.layout.info) else {
                throw FrameError(tooFewBytes: storage.buffer.byteCount, of: "\(storage.format)")
            }
            let isWhole = sampleCount == storage.sampleCount
            if isWhole || format.layout == .interleaved {
                let buffer = storage.buffer.retained()
                    .cut(storage.layout.info, to: samples)
                return ElementChain.BufferWithCaps(buffer: buffer, caps: storage.layout.caps)
            }
            return try dense().wrapped()
        }
        guard let memory = storage as? MemoryAudioStorage else {
            throw FrameError(.notMappable, "outputs do not support the memory of this frame")
        }
        let layout = try AudioFrameLayout.of(format)
        let pieces = memory.pieces(of: samples)
        guard pieces.count <= Buffer.mostMemories else { return try dense().wrapped() }
        // The closures retain the storage, so the memory stays valid until GStreamer releases the
        // buffer.
        func buffer(over piece: UnsafeMutableRawBufferPointer) -> Buffer {
            let held = WrappedMemory(memory, isOfProgram: memory.isOfProgram)
            return Buffer.wrapping(unsafe: piece, readOnly: true) { held.giveBack() }
        }
        var joined = buffer(over: pieces[0])
        for piece in pieces.dropFirst() {
            joined = joined.appending(buffer(over: piece))
        }
        if format.layout == .planar {
            let plane = sampleCount * format.sampleStride
            joined.describeAudio(
                layout.info, sampleCount: sampleCount,
                offsets: (0..<channels).map { $0 * plane })
        }
        return ElementChain.BufferWithCaps(buffer: joined, caps: layout.caps)
    }

    /// Returns a copy of the samples in memory that holds nothing else.
    private func dense() throws(FrameError) -> AudioFrame {
        replacingSamples(try MemoryAudioStorage(copying: storage, samples: samples))
    }
}

extension MemoryAudioStorage {
    /// Returns the planes in their order in a buffer: as one piece if they are contiguous in
    /// memory.
    fileprivate func pieces(of samples: Range<Int>) -> [UnsafeMutableRawBufferPointer] {
        let (stride, size) = (format.sampleStride, samples.count * format.sampleStride)
        let starts = planeOffsets.map { $0 + samples.lowerBound * stride }
        let isDense = starts.enumerated().allSatisfy { $1 == starts[0] + $0 * size }
        let lengths = isDense ? [size * starts.count] : starts.map { _ in size }
        return zip(starts, lengths).map {
            UnsafeMutableRawBufferPointer(rebasing: bytes[$0..<$0 + $1])
        }
    }
}

// MARK: Memory

/// Holds memory that a GstBuffer wraps, and releases it when no pipeline reads it any more.
///
/// GStreamer releases buffers while it holds its own locks (an appsrc that drops its oldest, a
/// queue that is flushed), and on its streaming threads. The program's release callback would run
/// under these locks, so the program's memory is released on a separate queue. Thread: any.
final class WrappedMemory: Sendable {
    private static let queue = SerialQueue(label: "mediabridge.release")
    private let storage: Mutex<(any AnyObject & Sendable)?>
    private let isOfProgram: Bool

    init(_ storage: any AnyObject & Sendable, isOfProgram: Bool) {
        self.storage = Mutex(storage)
        self.isOfProgram = isOfProgram
    }

    /// Releases the memory when the buffer is gone. The caller retains this object, not the memory.
    func giveBack() {
        if isOfProgram {
            Self.queue.async { self.letGo() }
        } else {
            letGo()
        }
    }

    private func letGo() {
        _ = storage.withLock { storage in
            defer { storage = nil }
            return storage
        }
    }

    /// Returns when all memory that was given back before has been released to the program, or
    /// after one second.
    static func settle() async {
        let latch = Latch()
        queue.async { latch.open() }
        _ = await latch.wait(for: .seconds(1).asDefaultDeadline)
    }
}

extension FrameError {
    /// A frame whose buffer is smaller than its format needs.
    init(tooFewBytes count: Int, of format: String) {
        self.init(
            .notMappable,
            "\(format) does not fit into the \(count) bytes of its frame: an element of the "
                + "capture, such as capssetter, sets caps that do not match the data")
    }
}
