public import MediaCore

/// A frame for push mode, whose fields are set one by one.
///
/// It is a class because code for RTC SDKs is written that way: `let frame = ExternalVideoFrame()`,
/// then `frame.format = 12`. The push reads it and does not keep a reference. Thread: one at a time.
///
/// Source: Agora's `AgoraVideoFrame`.
public final class ExternalVideoFrame {
    /// The format of ``dataBuf``, or ``PushFormat/pixelBuffer``. Default ``PushFormat/i420``.
    public var format: PushFormat = .i420
    /// The capture time, by any clock that only advances; `nil` to use the time of the push.
    public var time: MediaTime?
    /// The stride in pixels, not bytes. The picture has this width, minus what is cropped on the
    /// left and right.
    public var strideInPixels = 0
    /// The number of rows before cropping.
    public var height = 0
    /// The picture if ``format`` is ``PushFormat/pixelBuffer``. Passed on without a copy, unless it
    /// is cropped.
    public var textureBuf: PixelBuffer?
    /// The picture's bytes for any other ``format``. They are copied.
    public var dataBuf: [UInt8]?
    /// Pixels to cut off on the left. Default 0, as for the other sides.
    public var cropLeft = 0
    /// Rows to cut off at the top.
    public var cropTop = 0
    /// Pixels to cut off on the right.
    public var cropRight = 0
    /// Rows to cut off at the bottom.
    public var cropBottom = 0
    /// How far the picture must be turned clockwise to stand upright, in degrees: 0, 90, 180 or
    /// 270. Default 0.
    public var rotation = 0
    /// Values that the program attaches to the frame, carried along inside the process.
    public var metadata: [String: String] = [:]

    /// Creates an empty I420 frame.
    public init() {}

    /// The four crop properties as one value.
    package var crop: VideoCrop {
        VideoCrop(left: cropLeft, top: cropTop, right: cropRight, bottom: cropBottom)
    }

    /// Returns the frame.
    ///
    /// - Parameter now: The running time to use if ``time`` is `nil`.
    /// - Throws: The reason why it cannot be made.
    ///   - `DropCause.badFormat`: the format or rotation is not defined.
    ///   - `DropCause.wrongBufferType`: the bytes or the pixel buffer that the format requires are
    ///     missing.
    ///   - `DropCause.badStride`: the stride is out of range.
    ///   - `DropCause.badSize`: the height is out of range, the crop is negative or leaves nothing,
    ///     or there are too few bytes.
    package func made(now: MediaTime) throws(RawPicture.Refusal) -> VideoFrame {
        guard let rotation = VideoRotation(rawValue: rotation) else {
            throw RawPicture.Refusal(.badFormat)
        }
        return VideoFrame(
            try storage(), runningTime: time ?? now, rotation: rotation, metadata: metadata)
    }

    private func storage() throws(RawPicture.Refusal) -> any VideoFrameStorage {
        if format == .pixelBuffer {
            guard let textureBuf else { throw RawPicture.Refusal(.wrongBufferType) }
            return try cropped(textureBuf.storage)
        }
        guard let pixelFormat = VideoPixelFormat(push: format) else {
            throw RawPicture.Refusal(.badFormat)
        }
        guard let dataBuf else { throw RawPicture.Refusal(.wrongBufferType) }
        return try copied(dataBuf, pixelFormat)
    }

    private func copied(
        _ bytes: [UInt8], _ pixelFormat: VideoPixelFormat
    ) throws(RawPicture.Refusal) -> any VideoFrameStorage {
        guard (1...VideoPixelFormat.longestStride).contains(strideInPixels),
            format != .imc2 || strideInPixels.isMultiple(of: 2)
        else { throw RawPicture.Refusal(.badStride) }
        // Whether padding or pixels are cut off on the right makes no difference.
        var rest = crop
        rest.right = 0
        guard crop.size(of: VideoSize(width: strideInPixels, height: height)) != nil,
            case let size = VideoSize(width: strideInPixels - cropRight, height: height),
            size.isValid
        else { throw RawPicture.Refusal(.badSize) }
        let copy = bytes.withUnsafeBytes { bytes in
            var picture = RawPicture(
                unsafe: bytes, format: pixelFormat, size: size, strideInPixels: strideInPixels,
                crop: rest)
            if format == .imc2 { picture.planes = Self.imc2Planes(size, stride: strideInPixels) }
            return Result { () throws(RawPicture.Refusal) in try picture.copied() }
        }
        return try copy.get()
    }

    private func cropped(
        _ storage: any VideoFrameStorage
    ) throws(RawPicture.Refusal) -> any VideoFrameStorage {
        guard crop != VideoCrop() else { return storage }
        guard crop.size(of: storage.size) != nil else { throw RawPicture.Refusal(.badSize) }
        do throws(FrameError) {
            return try MemoryFrameStorage(packing: storage, crop: crop)
        } catch { throw RawPicture.Refusal(error) }
    }

    /// Returns the planes of IMC2: each chroma row has V in its left half and U in its right half.
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
}

// MARK: Numbers of RTC SDKs

/// A number that identifies a pixel format in push mode.
public struct PushFormat: RawRepresentable, Equatable, Sendable, ExpressibleByIntegerLiteral {
    /// The SDK's number.
    public let rawValue: Int
    /// Creates a format from the SDK's number, which is not checked.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Creates a format from the SDK's number, which is not checked.
    public init(integerLiteral value: Int) { rawValue = value }

    /// Planar YUV 4:2:0.
    public static let i420 = PushFormat(rawValue: 1)
    /// Packed blue, green, red, alpha.
    public static let bgra = PushFormat(rawValue: 2)
    /// YUV 4:2:0: Y, then V and U interleaved.
    public static let nv21 = PushFormat(rawValue: 3)
    /// Packed red, green, blue, alpha.
    public static let rgba = PushFormat(rawValue: 4)
    /// Planar YUV 4:2:0 with V and U side by side in each chroma row.
    public static let imc2 = PushFormat(rawValue: 5)
    /// Packed alpha, red, green, blue.
    public static let argb = PushFormat(rawValue: 7)
    /// YUV 4:2:0: Y, then U and V interleaved.
    public static let nv12 = PushFormat(rawValue: 8)
    /// A `PixelBuffer` instead of bytes.
    public static let pixelBuffer = PushFormat(rawValue: 12)
    /// Planar YUV 4:2:2.
    public static let i422 = PushFormat(rawValue: 16)
}

extension VideoPixelFormat {
    /// Creates the pixel format for a number of push mode; `nil` for ``PushFormat/pixelBuffer``,
    /// whose buffer has its own format, and for undefined numbers. ``PushFormat/imc2`` is I420 with
    /// a different chroma layout.
    public init?(push format: PushFormat) {
        switch format {
        case .i420, .imc2: self = .i420
        case .bgra: self = .bgra
        case .nv21: self = .nv21
        case .rgba: self = .rgba
        case .argb: self = .argb
        case .nv12: self = .nv12
        case .i422: self = .i422
        default: return nil
        }
    }

    // Spelled as in the headers of the SDKs, so that code written for those compiles.

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `i420` under its SDK name.
    public static let I420 = VideoPixelFormat.i420
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `bgra` under its SDK name.
    public static let BGRA = VideoPixelFormat.bgra
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// `nv12` under its SDK name.
    public static let NV12 = VideoPixelFormat.nv12

    /// Creates the pixel format for a number of `AgoraVideoPixelFormat` (1, 2 or 8); `nil` for any
    /// other.
    public init?(mediaIO number: Int) {
        switch number {
        case 1: self = .i420
        case 2: self = .bgra
        case 8: self = .nv12
        default: return nil
        }
    }
}

extension VideoRotation {
    /// `upright` under its SDK name.
    public static let rotationNone = VideoRotation.upright
}

extension VideoContentHint {
    /// `unspecified` under its SDK name.
    public static let none = VideoContentHint.unspecified
}
