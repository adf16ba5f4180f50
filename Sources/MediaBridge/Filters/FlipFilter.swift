/// Rotates or mirrors the picture. The pixel format does not change.
///
/// Rotations, and the mirror in formats whose samples are packed across pixels, are made by
/// GStreamer's `videoflip`.
public final class FlipFilter: VideoProcessor, Sendable {
    /// How the picture is changed. Rotations are clockwise, in degrees.
    public enum Method: String, Sendable, CaseIterable {
        /// Swaps left and right.
        case mirror = "horiz"
        /// Rotates by 90°.
        case rotate90 = "90r"
        /// Rotates by 180°.
        case rotate180 = "180"
        /// Rotates by 270°.
        case rotate270 = "90l"
    }
    private let converter = FrameConverter()
    private let pool = FramePool()
    private let conversion: VideoConversion

    /// Creates a filter for one rotation, or for the mirror.
    public init(_ method: Method) {
        switch method {
        case .mirror: conversion = VideoConversion(isMirrored: true)
        case .rotate90: conversion = VideoConversion(rotation: .rotation90)
        case .rotate180: conversion = VideoConversion(rotation: .rotation180)
        case .rotate270: conversion = VideoConversion(rotation: .rotation270)
        }
    }

    /// Returns the rotated or mirrored frame. Thread: any.
    ///
    /// - Throws: If the pixel format is unknown or cannot be converted.
    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
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
