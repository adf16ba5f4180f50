extension VideoPixelFormat {
    /// Returns the planes of a picture in the memory layout of RTC SDKs: rows without padding
    /// except for the given stride, chroma rows of half the length (rounded up), and planes without
    /// gaps.
    ///
    /// - Parameters:
    ///   - size: The size of the picture in pixels.
    ///   - strideInPixels: The stride of the first plane in pixels; `nil` for the width.
    /// - Throws: ``FrameError``: ``FrameError/Code/badFormat`` for a format that the SDKs do not
    ///   use, or a size out of range; ``FrameError/Code/badLayout`` for a stride smaller than the
    ///   width, or larger than four times ``VideoSize/longestSide``.
    public func packedPlanes(
        _ size: VideoSize, strideInPixels: Int? = nil
    ) throws(FrameError) -> [VideoPlaneLayout] {
        guard size.isValid else {
            throw FrameError(.badFormat, "\(size) is not a valid frame size")
        }
        let stride = strideInPixels ?? size.width
        guard stride >= size.width, stride <= Self.longestStride else {
            throw FrameError(
                .badLayout, "a stride of \(stride) pixels does not fit rows of \(size.width)")
        }
        let (rows, halfRows) = (size.height, (size.height + 1) / 2)
        let (half, halfStride) = ((size.width + 1) / 2, (stride + 1) / 2)
        func plane(
            _ offset: Int, _ stride: Int, _ rows: Int, _ width: Int, _ pixel: Int = 1
        ) -> VideoPlaneLayout {
            VideoPlaneLayout(
                offset: offset, stride: stride, rows: rows, width: width, pixelStride: pixel)
        }
        let luma = plane(0, stride, rows, size.width)
        let chroma = stride * rows
        switch self {
        case .i420:
            return [
                luma, plane(chroma, halfStride, halfRows, half),
                plane(chroma + halfStride * halfRows, halfStride, halfRows, half),
            ]
        case .i422:
            return [
                luma, plane(chroma, halfStride, rows, half),
                plane(chroma + halfStride * rows, halfStride, rows, half),
            ]
        case .nv12, .nv21:
            return [luma, plane(chroma, 2 * halfStride, halfRows, half, 2)]
        case .bgra, .rgba, .argb:
            return [plane(0, 4 * stride, rows, size.width, 4)]
        case .gray8:
            return [luma]
        default:
            throw FrameError(
                .badFormat,
                "\(self) is not one of the formats that can be passed as plain bytes")
        }
    }

    /// The largest stride that is accepted, in pixels.
    static let longestStride = 4 * VideoSize.longestSide

    /// Returns the number of bytes from the start of the memory to the end of the last of `planes`.
    package static func byteCount(of planes: [VideoPlaneLayout]) -> Int {
        planes.map { $0.offset + $0.stride * ($0.rows - 1) + $0.rowBytes }.max() ?? 0
    }
}
