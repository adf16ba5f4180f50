internal import MediaBasics
internal import Synchronization

/// Rotates or mirrors the picture. The pixel format does not change.
///
/// Rotations, and the mirror in formats whose samples are packed across pixels, are made by
/// GStreamer's `videoflip`.
final class FlipFilter: VideoProcessor, Sendable {
    private let converter = FrameConverter()
    private let pool = FramePool()
    private let conversion: VideoConversion

    /// Creates a filter that turns pictures clockwise.
    init(rotation: VideoRotation) { conversion = VideoConversion(rotation: rotation) }

    /// Creates a filter that swaps left and right.
    init() { conversion = VideoConversion(isMirrored: true) }

    /// Returns the rotated or mirrored frame.
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let frame = frame
        guard conversion.isMirrored, let storage = frame.storage as? BufferFrameStorage,
            storage.layout.info.hasPlainRows, var result = try pool.frame(like: frame)
        else { return try converter.convert(frame, to: conversion) }
        try frame.withPlanes { from in
            try result.withMutablePlanes { to in
                for index in 0..<from.count {
                    Self.mirror(from[index], &to, index)
                    to.clearPadding(index)
                }
            }
        }
        return result
    }

    private static func mirror(
        _ from: borrowing VideoPlane, _ to: inout MutableVideoPlanes, _ index: Int
    ) {
        let target = to[index]
        for y in 0..<from.rows {
            var row = target.row(y)
            row.withUnsafeMutableBytes { target in
                from.row(y).withUnsafeBytes { source in
                    switch from.layout.pixelStride {
                    case 1: reverse(source, target, UInt8.self)
                    case 2: reverse(source, target, UInt16.self)
                    default: reverse(source, target, UInt32.self)
                    }
                }
            }
        }
    }

    /// Copies values in reverse order.
    @inline(__always)
    private static func reverse<Value: FixedWidthInteger & BitwiseCopyable>(
        _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer,
        _ type: Value.Type
    ) {
        let size = MemoryLayout<Value>.size
        let count = min(source.count, target.count) / size
        guard let source = source.baseAddress, let target = target.baseAddress else { return }
        for index in 0..<count {
            let value = source.loadUnaligned(fromByteOffset: (count - 1 - index) * size, as: type)
            target.storeBytes(of: value, toByteOffset: index * size, as: type)
        }
    }
}

extension VideoInfo {
    /// Whether every row consists of whole samples, or groups of samples, of one, two or four bytes.
    fileprivate var hasPlainRows: Bool {
        guard !isComplex, colorFamily != .other else { return false }
        let (planes, components) = (planeLayouts, components)
        return planes.indices.allSatisfy { index in
            let strides = Set(components.filter { $0.plane == index }.map(\.pixelStride))
            return strides.count == 1 && strides == [planes[index].pixelStride]
                && [1, 2, 4].contains(planes[index].pixelStride)
        }
    }
}

// MARK: Memory

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
            _ = latest.exchange((layout, pool))
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
