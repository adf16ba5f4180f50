internal import Synchronization

/// Frames for the result of a filter that cannot write in place. Thread: any.
///
/// Keeps the memory of as many frames as were in use at once, until the format changes.
final class FramePool: Sendable {
    private let latest = Mutex<(layout: FrameLayout, pool: BufferPool)?>(nil)

    /// Returns a frame with uninitialised pixels in GStreamer's default layout, and with everything
    /// else of `frame`; `nil` if there is none: for a frame whose buffer carries what only a copy
    /// of it keeps, and if there is no memory.
    func frame(like frame: VideoFrame) throws(PipelineError) -> VideoFrame? {
        guard let storage = frame.storage as? BufferFrameStorage, !storage.buffer.hasAttachments
        else { return nil }
        let layout = storage.layout
        let known = latest.withLock { latest in
            latest.flatMap { $0.layout === layout ? $0.pool : nil }
        }
        guard let pool = known ?? BufferPool(layout.info) else { return nil }
        if known == nil {
            // The replaced pool is released outside of the lock.
            _ = latest.withLock { latest in
                defer { latest = (layout, pool) }
                return latest
            }
        }
        guard let buffer = pool.buffer(like: storage.buffer) else { return nil }
        return frame.replacingPixels(BufferFrameStorage(buffer, layout))
    }
}

extension MutableVideoPlanes {
    /// Sets the bytes between the rows of a plane to zero: memory that is used again would show
    /// what it held before.
    mutating func clearPadding(_ index: Int) {
        let plane = self[index]
        let layout = plane.layout
        let length = layout.rowBytes
        guard layout.stride > length else { return }
        plane.withUnsafeMutableBytes { bytes in
            for y in 0..<layout.rows {
                let start = y * layout.stride + length
                let end = min(start + layout.stride - length, bytes.count)
                guard start < end else { continue }
                UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
                    .initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
    }
}
