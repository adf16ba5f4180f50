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
            return cropped(textureBuf)
        }
        guard let pixelFormat = VideoPixelFormat(push: format) else {
            return refuse(.badFormat, "no format has the number \(format.rawValue)")
        }
        guard let dataBuf else {
            return refuse(.wrongBufferType, "format \(format.rawValue), and no dataBuf")
        }
        return dataBuf.withUnsafeBytes { bytes in
            var picture = RawPicture(
                unsafe: bytes, format: pixelFormat,
                size: VideoSize(width: strideInPixels, height: height), crop: crop)
            if format == .imc2 { picture.planes = Self.imc2Planes(picture.size) }
            return picture.copied().map { $0 }
        }
    }

    private func cropped(
        _ buffer: PixelBuffer
    ) -> Result<any VideoFrameStorage, RawPicture.Refusal> {
        guard crop != VideoCrop() else { return .success(buffer.storage) }
        do {
            let packed = try VideoFrame(buffer.storage, runningTime: nil).packedCopy()
            return RawPicture(
                unsafe: UnsafeRawBufferPointer(packed.bytes), format: buffer.format.pixelFormat,
                size: VideoSize(width: buffer.width, height: buffer.height), crop: crop
            ).copied().map { $0 }
        } catch {
            return refuse(.badFormat, "\(error)")
        }
    }

    /// V in the left half of each chroma row, U in the right.
    private static func imc2Planes(_ size: VideoSize) -> [VideoPlaneLayout]? {
        guard size.isValid, size.width.isMultiple(of: 2) else { return nil }
        let (half, rows) = (size.width / 2, (size.height + 1) / 2)
        let chroma = size.width * size.height
        func plane(_ offset: Int) -> VideoPlaneLayout {
            VideoPlaneLayout(offset: offset, stride: size.width, rows: rows, width: half)
        }
        let luma = VideoPlaneLayout(
            offset: 0, stride: size.width, rows: size.height, width: size.width)
        return [luma, plane(chroma + half), plane(chroma)]
    }

    private func refuse<T>(
        _ cause: DropCause, _ message: String
    ) -> Result<T, RawPicture.Refusal> {
        .failure(RawPicture.Refusal(cause: cause, message: message))
    }
}
