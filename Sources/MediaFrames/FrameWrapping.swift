package import GStreamerKit
internal import MediaBasics
package import MediaCore
internal import Synchronization

extension PipelineError {
    /// The reason why a pipeline cannot take a frame: a ``PipelineError`` itself, or another error's text.
    package init(_ error: any Error) {
        switch error {
        case let error as PipelineError: self = error
        case let error as FrameError: self.init(.streamFailed, message: error.message)
        case is CancellationError:
            self.init(.interrupted, message: "the task of the call was cancelled")
        default: self.init(.streamFailed, message: "\(error)")
        }
    }
}

extension VideoFrame {
    /// Returns the frame as a buffer: a frame that came from a pipeline keeps its buffer, and one in
    /// Swift memory is wrapped. No pixels are copied.
    ///
    /// - Throws: ``PipelineError`` for memory that outputs do not support, for planes that do not fit the
    ///   format, and for a format that GStreamer does not accept.
    package borrowing func wrapped() throws(PipelineError) -> ElementChain.BufferWithCaps {
        do { return try makeBuffer() } catch { throw PipelineError(error) }
    }

    private borrowing func makeBuffer() throws -> ElementChain.BufferWithCaps {
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
    /// Samples are copied only for a part of planar audio, because GStreamer's elements expect the
    /// planes one right after the other.
    ///
    /// - Throws: ``PipelineError`` for memory that outputs do not support, for a frame without samples, and
    ///   for a format that GStreamer does not accept.
    package borrowing func wrapped() throws(PipelineError) -> ElementChain.BufferWithCaps {
        do { return try makeBuffer() } catch { throw PipelineError(error) }
    }

    private borrowing func makeBuffer() throws -> ElementChain.BufferWithCaps {
        guard sampleCount > 0 else { throw FrameError(.badLayout, "audio frame without samples") }
        guard sampleCount == storage.sampleCount || !format.isPlanar else {
            let dense = try MemoryAudioStorage(copying: storage, samples: samples)
            return try replacingSamples(dense).makeBuffer()
        }
        if let storage = storage as? BufferAudioStorage {
            guard storage.buffer.holds(storage.layout.info) else {
                throw FrameError(tooFewBytes: storage.buffer.byteCount, of: "\(storage.format)")
            }
            let buffer = storage.buffer.retained().cut(storage.layout.info, to: samples)
            return ElementChain.BufferWithCaps(buffer: buffer, caps: storage.layout.caps)
        }
        guard let memory = storage as? MemoryAudioStorage else {
            throw FrameError(.notMappable, "outputs do not support the memory of this frame")
        }
        let layout = try AudioFrameLayout.of(format)
        // The closure retains the storage, so the memory stays valid until GStreamer releases the
        // buffer.
        let held = WrappedMemory(memory, isOfProgram: false)
        let bytes = memory.bytes.dropFirst(samples.lowerBound * format.sampleStride)
            .prefix(format.byteCount(sampleCount: sampleCount))
        var buffer = Buffer.wrapping(
            unsafe: UnsafeMutableRawBufferPointer(rebasing: bytes), readOnly: true
        ) { held.giveBack() }
        if format.isPlanar {
            let plane = sampleCount * format.sampleStride
            buffer.describeAudio(
                layout.info, sampleCount: sampleCount,
                offsets: (0..<channels).map { $0 * plane })
        }
        return ElementChain.BufferWithCaps(buffer: buffer, caps: layout.caps)
    }
}

// MARK: Memory

/// Holds memory that a GstBuffer wraps, and releases it when no pipeline reads it any more.
///
/// GStreamer releases buffers while it holds its own locks (an appsrc that drops its oldest, a
/// queue that is flushed), and on its streaming threads. The program's release callback would run
/// under these locks, so the program's memory is released on a separate queue. Thread: any.
package final class WrappedMemory: Sendable {
    private static let queue = SerialQueue(label: "mediabridge.release")
    private let storage: Mutex<(any AnyObject & Sendable)?>
    private let isOfProgram: Bool

    package init(_ storage: any AnyObject & Sendable, isOfProgram: Bool) {
        self.storage = Mutex(storage)
        self.isOfProgram = isOfProgram
    }

    /// Releases the memory when the buffer is gone. The caller retains this object, not the memory.
    package func giveBack() {
        if isOfProgram {
            Self.queue.async { self.releaseOwner() }
        } else {
            releaseOwner()
        }
    }

    private func releaseOwner() {
        _ = storage.exchange(nil)
    }

    /// Returns when all memory that was given back before has been released to the program, or
    /// after one second.
    package static func settle() async {
        let latch = Latch()
        queue.async { latch.open() }
        _ = await latch.wait(for: .seconds(1).asDefaultDeadline)
    }
}

extension FrameError {
    /// A frame whose buffer is smaller than its format needs.
    package init(tooFewBytes count: Int, of format: String) {
        self.init(
            .notMappable,
            "\(format) does not fit into the \(count) bytes of its frame: an element of the "
                + "capture, such as capssetter, sets caps that do not match the data")
    }
}
