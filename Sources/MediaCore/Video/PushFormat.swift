/// A number that identifies a pixel format in push mode.
public struct PushFormat: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
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
    /// A ``PixelBuffer`` instead of bytes.
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
    /// ``i420`` under its SDK name.
    public static let I420 = VideoPixelFormat.i420
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``bgra`` under its SDK name.
    public static let BGRA = VideoPixelFormat.bgra
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``nv12`` under its SDK name.
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
