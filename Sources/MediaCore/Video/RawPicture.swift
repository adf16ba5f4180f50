/// A raw picture in the program's memory, passed as bytes, with its stride and crop.
///
/// Valid only as long as the memory is; its consumer copies the picture.
package struct RawPicture {
    /// The whole memory that contains the picture.
    package var bytes: UnsafeRawBufferPointer
    /// The pixel format.
    package var format: VideoPixelFormat
    /// The size of the picture in memory, before cropping.
    package var size: VideoSize
    /// The stride of the first plane in pixels; `nil` for the width.
    package var strideInPixels: Int?
    /// The pixels to cut off on each side.
    package var crop: VideoCrop
    /// The planes, if they differ from the usual layout.
    package var planes: [VideoPlaneLayout]?

    /// Describes a picture in memory. Its consumer checks it.
    ///
    /// - Parameters:
    ///   - bytes: Must stay valid and unchanged while this value is in use.
    ///   - format: The pixel format.
    ///   - size: Width and height in pixels, before the crop.
    ///   - strideInPixels: The stride of the first plane in pixels; `nil` for the width.
    ///   - crop: The pixels to cut off on each side. Default: none.
    package init(
        unsafe bytes: UnsafeRawBufferPointer, format: VideoPixelFormat, size: VideoSize,
        strideInPixels: Int? = nil, crop: VideoCrop = VideoCrop()
    ) {
        self.bytes = bytes
        self.format = format
        self.size = size
        self.strideInPixels = strideInPixels
        self.crop = crop
    }

    /// The reason why a picture cannot be accepted.
    package struct Refusal: Error, Sendable {
        /// The cause under which the frame is counted.
        package let cause: DropCause

        /// Creates a refusal for a cause.
        package init(_ cause: DropCause) { self.cause = cause }

        /// Creates the refusal for an error of a frame.
        package init(_ error: FrameError) {
            switch error.code {
            case .badLayout: cause = .badStride
            case .outOfMemory: cause = .failed
            default: cause = .badFormat
            }
        }
    }

    /// Returns a copy of a picture in `rawData`, without padding.
    package static func copy(
        _ rawData: RawSpan, _ format: VideoPixelFormat, _ size: VideoSize, strideInPixels: Int?
    ) throws(Refusal) -> MemoryFrameStorage {
        try unsafe rawData.withUnsafeBytes { bytes throws(Refusal) in
            try RawPicture(
                unsafe: bytes, format: format, size: size, strideInPixels: strideInPixels
            ).copied()
        }
    }

    /// Returns a copy of the picture, cropped and without padding.
    package func copied() throws(Refusal) -> MemoryFrameStorage {
        guard size.isValid, let kept = crop.size(of: size) else { throw Refusal(.badSize) }
        let (source, target): ([VideoPlaneLayout], [VideoPlaneLayout])
        do throws(FrameError) {
            let usual = try format.packedPlanes(size, strideInPixels: strideInPixels)
            (source, target) = (planes ?? usual, try format.packedPlanes(kept))
        } catch { throw Refusal(error) }
        guard VideoPixelFormat.byteCount(of: source) <= bytes.count else {
            throw Refusal(.badSize)
        }
        do throws(FrameError) {
            return try MemoryFrameStorage(
                copying: bytes, from: crop.applied(to: source, of: size), to: target,
                format: VideoFormat(format, width: kept.width, height: kept.height))
        } catch { throw Refusal(error) }
    }
}

/// The number of pixels to cut off on each of the four sides of a picture.
package struct VideoCrop: Equatable, Sendable, CustomStringConvertible {
    /// Pixels to cut off on the left.
    package var left: Int
    /// Rows to cut off at the top.
    package var top: Int
    /// Pixels to cut off on the right.
    package var right: Int
    /// Rows to cut off at the bottom.
    package var bottom: Int

    /// Creates a crop; it cuts nothing off by default.
    package init(left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0) {
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
    }

    package var description: String {
        "a crop of \(left) left, \(top) top, \(right) right, \(bottom) bottom"
    }

    /// Returns the size of a picture after the crop; `nil` if nothing is left or a side is
    /// negative.
    package func size(of size: VideoSize) -> VideoSize? {
        guard left >= 0, top >= 0, right >= 0, bottom >= 0,
            left < size.width, right < size.width - left,
            top < size.height, bottom < size.height - top
        else { return nil }
        return VideoSize(width: size.width - left - right, height: size.height - top - bottom)
    }

    /// Returns the planes of the cropped picture. Subsampled chroma begins at half the crop,
    /// rounded down, as in GStreamer's `videocrop`.
    func applied(to planes: [VideoPlaneLayout], of size: VideoSize) -> [VideoPlaneLayout] {
        guard let kept = self.size(of: size) else { return planes }
        return planes.map { part(of: $0, of: size, leaving: kept) }
    }

    private func part(
        of plane: VideoPlaneLayout, of size: VideoSize, leaving kept: VideoSize
    ) -> VideoPlaneLayout {
        // The chroma plane of a picture that is one pixel wide or high has the same width or
        // height, and is not cropped in that direction.
        let (halfWide, halfHigh) = (plane.width < size.width, plane.rows < size.height)
        var part = plane
        let (x, y) = (halfWide ? left / 2 : left, halfHigh ? top / 2 : top)
        part.offset += y * plane.stride + x * plane.pixelStride
        part.width = halfWide ? (kept.width + 1) / 2 : kept.width
        part.rows = halfHigh ? (kept.height + 1) / 2 : kept.height
        return part
    }
}
