/// A format number of push mode.
///
/// Source: Agora's `AgoraVideoFrame.format`. Integer literals work: `frame.format = 12`.
public struct PushFormat: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(integerLiteral value: Int) { rawValue = value }

    public static let i420 = PushFormat(rawValue: 1)
    public static let bgra = PushFormat(rawValue: 2)
    public static let nv21 = PushFormat(rawValue: 3)
    public static let rgba = PushFormat(rawValue: 4)
    /// 4:2:0 with V and U side by side in each chroma row.
    public static let imc2 = PushFormat(rawValue: 5)
    public static let argb = PushFormat(rawValue: 7)
    public static let nv12 = PushFormat(rawValue: 8)
    /// A ``PixelBuffer`` instead of bytes.
    public static let pixelBuffer = PushFormat(rawValue: 12)
    public static let i422 = PushFormat(rawValue: 16)
}

extension VideoPixelFormat {
    /// The format behind a number of push mode; `nil` for ``PushFormat/pixelBuffer``, which has its own,
    /// and for numbers that mean nothing. ``PushFormat/imc2`` is I420 with its chroma elsewhere.
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

    // As the SDKs' headers spell them, so that code written for those compiles.

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``i420`` under its SDK name.
    public static let I420 = VideoPixelFormat.i420
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``bgra`` under its SDK name.
    public static let BGRA = VideoPixelFormat.bgra
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``nv12`` under its SDK name.
    public static let NV12 = VideoPixelFormat.nv12

    /// The format behind a number of `AgoraVideoPixelFormat` (1, 2 or 8); `nil` for any other.
    public init?(mediaIO number: Int) {
        switch number {
        case 1: self = .i420
        case 2: self = .bgra
        case 8: self = .nv12
        default: return nil
        }
    }
}
