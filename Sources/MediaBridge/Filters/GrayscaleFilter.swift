/// Removes the colours of the picture.
///
/// In YUV formats the luma bytes stay unchanged and chroma becomes neutral. In RGB formats every
/// channel becomes the luminance (BT.601 weights). Formats whose samples are packed across bytes
/// are converted to 16-bit YUV and back.
public final class GrayscaleFilter: VideoProcessor, Sendable {
    private let converter = FrameConverter()
    private let pool = FramePool()

    /// Creates the filter. It has no settings.
    public init() {}

    /// Returns the frame without its colours. Thread: any.
    ///
    /// - Throws: If the pixel format is unknown or cannot be converted.
    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        var result = frame
        let info = try Self.info(of: result)
        if info.colorFamily == .gray { return result }
        guard let recipe = GrayscaleRecipe(info) else { return try convert(result, info) }
        // One pass, into memory that is used again, instead of a copy that is then changed.
        if !result.isSoleOwner, var copy = try pool.frame(like: result) {
            try result.withPlanes { source in
                try copy.withMutablePlanes { recipe.apply(from: source, to: &$0) }
            }
            return copy
        }
        try result.withMutablePlanes { recipe.apply(to: &$0) }
        return result
    }

    private static func info(of frame: VideoFrame) throws -> VideoInfo {
        if let storage = frame.storage as? BufferFrameStorage { return storage.layout.info }
        return try FrameLayout.of(frame.format).info
    }

    /// Converts the frame to a format that a recipe exists for, filters it, and converts it back.
    private func convert(_ frame: VideoFrame, _ info: VideoInfo) throws -> VideoFrame? {
        let back = VideoConversion(pixelFormat: VideoPixelFormat(rawValue: info.format))
        let plain = try converter.convert(frame, to: Self.detour)
        return try process(plain).map { try converter.convert($0, to: back) }
    }

    private static let detour = VideoConversion(pixelFormat: "Y444_16LE")
}
