/// A picture that lies in memory of the program's, with its stride and what to cut off: how bytes are
/// handed over.
///
/// Valid only as long as the memory is; ``copied()`` takes the picture out.
public struct RawPicture {
    /// All of the memory.
    public var bytes: UnsafeRawBufferPointer
    public var format: VideoPixelFormat
    /// Of the picture in memory, before anything is cut off.
    public var size: VideoSize
    /// Pixels from one row of the first plane to the next; `nil` for the width.
    public var strideInPixels: Int?
    /// What to cut off.
    public var crop: VideoCrop
    /// Where planes lie, where it is not the usual place.
    var planes: [VideoPlaneLayout]?

    /// - Parameter bytes: Must stay valid and unchanged while the value is in use.
    public init(
        unsafe bytes: UnsafeRawBufferPointer, format: VideoPixelFormat, size: VideoSize,
        strideInPixels: Int? = nil, crop: VideoCrop = VideoCrop()
    ) {
        self.bytes = bytes
        self.format = format
        self.size = size
        self.strideInPixels = strideInPixels
        self.crop = crop
    }

    /// Why a picture cannot be taken.
    public struct Refusal: Error, Sendable {
        /// As it is counted.
        public let cause: DropCause
        /// One sentence for people.
        public let message: String

        public init(cause: DropCause, message: String) {
            self.cause = cause
            self.message = message
        }

        init(_ error: FrameError) {
            switch error.code {
            case .badLayout: cause = .badStride
            case .outOfMemory: cause = .failed
            default: cause = .badFormat
            }
            message = error.message
        }
    }

    /// The picture in memory of its own, cropped and without padding.
    public func copied() -> Result<MemoryFrameStorage, Refusal> {
        guard size.isValid else { return refuse(.badSize, "\(size) is not the size of a picture") }
        guard let kept = crop.size(of: size) else {
            return refuse(.badSize, "\(crop) leaves nothing of \(size)")
        }
        do throws(FrameError) {
            let usual = try format.packedPlanes(size, strideInPixels: strideInPixels)
            let source = planes ?? usual
            let needed = VideoPixelFormat.byteCount(of: source)
            guard needed <= bytes.count else {
                return refuse(
                    .badSize, "\(bytes.count) bytes, where \(format) \(size) takes \(needed)")
            }
            let target = try format.packedPlanes(kept)
            let storage = try MemoryFrameStorage(
                copying: bytes, from: crop.applied(to: source, of: size), to: target,
                format: VideoFormat(format, width: kept.width, height: kept.height))
            return .success(storage)
        } catch {
            return .failure(Refusal(error))
        }
    }

    private func refuse(
        _ cause: DropCause, _ message: String
    ) -> Result<MemoryFrameStorage, Refusal> {
        .failure(Refusal(cause: cause, message: message))
    }
}

/// Pixels to cut off a picture on its four sides.
public struct VideoCrop: Hashable, Sendable, CustomStringConvertible {
    public var left: Int
    public var top: Int
    public var right: Int
    public var bottom: Int

    public init(left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0) {
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
    }

    public var description: String {
        "a crop of \(left) left, \(top) top, \(right) right, \(bottom) bottom"
    }

    /// What is left of a picture; `nil` where nothing is, or a side is negative.
    public func size(of size: VideoSize) -> VideoSize? {
        guard left >= 0, top >= 0, right >= 0, bottom >= 0,
            left < size.width, right < size.width - left,
            top < size.height, bottom < size.height - top
        else { return nil }
        return VideoSize(width: size.width - left - right, height: size.height - top - bottom)
    }

    /// The planes of what is left. Where chroma has half the samples it begins at half the crop, rounded
    /// down, as in GStreamer's `videocrop`.
    func applied(to planes: [VideoPlaneLayout], of size: VideoSize) -> [VideoPlaneLayout] {
        guard let kept = self.size(of: size) else { return planes }
        return planes.map { part(of: $0, of: size, leaving: kept) }
    }

    private func part(
        of plane: VideoPlaneLayout, of size: VideoSize, leaving kept: VideoSize
    ) -> VideoPlaneLayout {
        // A chroma plane of a picture one pixel wide or high is as wide or high, and nothing is cut there.
        let (halfWide, halfHigh) = (plane.width < size.width, plane.rows < size.height)
        var part = plane
        let (x, y) = (halfWide ? left / 2 : left, halfHigh ? top / 2 : top)
        part.offset += y * plane.stride + x * plane.pixelStride
        part.width = halfWide ? (kept.width + 1) / 2 : kept.width
        part.rows = halfHigh ? (kept.height + 1) / 2 : kept.height
        return part
    }
}
