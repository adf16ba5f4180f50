/// A frame for push mode, filled in field by field.
///
/// A class, because that is how code for RTC SDKs writes it: `let frame = ExternalVideoFrame()`, then
/// `frame.format = 12`. It is read while the push runs and not kept.
///
/// Source: Agora's `AgoraVideoFrame`.
public final class ExternalVideoFrame {
    /// What is in ``dataBuf``, or ``PushFormat/pixelBuffer``. Default ``PushFormat/i420``.
    public var format: PushFormat = .i420
    /// When it was taken, in any one clock that goes forward; `nil` for the moment of the push.
    public var time: MediaTime?
    /// Pixels, not bytes, from row to row. The picture is this wide, less what is cropped on both sides.
    public var strideInPixels = 0
    /// Rows, before the crop.
    public var height = 0
    /// The picture, where ``format`` is ``PushFormat/pixelBuffer``. Passed on without a copy, unless
    /// something is to be cropped.
    public var textureBuf: PixelBuffer?
    /// The picture's bytes, where ``format`` is any other. They are copied.
    public var dataBuf: [UInt8]?
    public var cropLeft = 0
    public var cropTop = 0
    public var cropRight = 0
    public var cropBottom = 0
    /// Degrees clockwise: 0, 90, 180 or 270.
    public var rotation = 0
    /// The program's own notes, carried along inside the process.
    public var metadata: [String: String] = [:]

    public init() {}

    /// What is to be cut off.
    public var crop: VideoCrop {
        VideoCrop(left: cropLeft, top: cropTop, right: cropRight, bottom: cropBottom)
    }

    /// The frame, or why there is none.
    ///
    /// ``DropCause/badFormat``: a format or rotation of no meaning. ``DropCause/wrongBufferType``: a
    /// format without the bytes, or the pixel buffer, that it promises. ``DropCause/badStride``: a stride
    /// of no picture. ``DropCause/badSize``: a height of none, a crop that is negative or leaves nothing,
    /// bytes that are too few.
    ///
    /// - Parameter now: Its time, where it has none.
    public func made(now: MediaTime) -> Result<VideoFrame, RawPicture.Refusal> {
        guard let rotation = VideoRotation(rawValue: rotation) else {
            return refuse(.badFormat, "a rotation of \(self.rotation) degrees")
        }
        return storage().map { storage in
            VideoFrame(
                storage, runningTime: time ?? now, rotation: rotation, metadata: metadata)
        }
    }

    private func storage() -> Result<any VideoFrameStorage, RawPicture.Refusal> {
        if format == .pixelBuffer {
            guard let textureBuf else {
                return refuse(.wrongBufferType, "format 12, and no textureBuf")
            }
            return cropped(textureBuf.storage)
        }
        guard let pixelFormat = VideoPixelFormat(push: format) else {
            return refuse(.badFormat, "no format has the number \(format.rawValue)")
        }
        guard let dataBuf else {
            return refuse(.wrongBufferType, "format \(format.rawValue), and no dataBuf")
        }
        return copied(dataBuf, pixelFormat)
    }

    private func copied(
        _ bytes: [UInt8], _ pixelFormat: VideoPixelFormat
    ) -> Result<any VideoFrameStorage, RawPicture.Refusal> {
        guard (1...VideoPixelFormat.longestStride).contains(strideInPixels) else {
            return refuse(.badStride, "a stride of \(strideInPixels) pixels")
        }
        guard crop.size(of: VideoSize(width: strideInPixels, height: height)) != nil else {
            return refuse(
                .badSize, "\(crop) leaves nothing of \(strideInPixels)×\(height)")
        }
        // What is cut off on the right may be padding, or pixels: it is all the same.
        var rest = crop
        rest.right = 0
        let size = VideoSize(width: strideInPixels - cropRight, height: height)
        guard size.isValid else { return refuse(.badSize, "\(size) is not the size of a picture") }
        return bytes.withUnsafeBytes { bytes in
            var picture = RawPicture(
                unsafe: bytes, format: pixelFormat, size: size, strideInPixels: strideInPixels,
                crop: rest)
            if format == .imc2 {
                guard strideInPixels.isMultiple(of: 2) else {
                    return refuse(
                        .badStride, "IMC2 has an even stride, and this is \(strideInPixels)")
                }
                picture.planes = Self.imc2Planes(size, stride: strideInPixels)
            }
            return picture.copied().map { $0 }
        }
    }

    private func cropped(
        _ storage: any VideoFrameStorage
    ) -> Result<any VideoFrameStorage, RawPicture.Refusal> {
        guard crop != VideoCrop() else { return .success(storage) }
        let size = VideoSize(width: storage.format.width, height: storage.format.height)
        guard crop.size(of: size) != nil else {
            return refuse(.badSize, "\(crop) leaves nothing of \(size)")
        }
        do throws(FrameError) {
            return .success(try MemoryFrameStorage(packing: storage, crop: crop))
        } catch {
            return .failure(RawPicture.Refusal(error))
        }
    }

    /// V in the left half of each chroma row, U in the right.
    private static func imc2Planes(_ size: VideoSize, stride: Int) -> [VideoPlaneLayout] {
        let (rows, half) = ((size.height + 1) / 2, (size.width + 1) / 2)
        let chroma = stride * size.height
        func plane(_ offset: Int) -> VideoPlaneLayout {
            VideoPlaneLayout(offset: offset, stride: stride, rows: rows, width: half)
        }
        let luma = VideoPlaneLayout(
            offset: 0, stride: stride, rows: size.height, width: size.width)
        return [luma, plane(chroma + stride / 2), plane(chroma)]
    }

    private func refuse<T>(
        _ cause: DropCause, _ message: String
    ) -> Result<T, RawPicture.Refusal> {
        .failure(RawPicture.Refusal(cause: cause, message: message))
    }
}
