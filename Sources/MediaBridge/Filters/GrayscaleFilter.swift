/// Removes the colours of the picture.
///
/// In YUV formats the luma bytes stay unchanged and chroma becomes neutral. In RGB formats every
/// channel becomes the luminance (BT.601 weights). Formats whose samples are packed across bytes
/// are converted to 16-bit YUV and back.
public final class GrayscaleFilter: VideoProcessor, Sendable {
    private let converter = FrameConverter()

    /// Creates the filter. It has no settings.
    public init() {}

    /// Returns the frame without its colours. Thread: any.
    ///
    /// - Throws: If the pixel format is unknown or cannot be converted.
    public func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        var result = frame
        let info = try VideoInfo(result.format)
        if info.colorFamily == .gray { return result }
        guard let recipe = Recipe(info) else { return try convert(result, info) }
        try result.withMutablePlanes { planes in recipe.apply(&planes) }
        return result
    }

    /// Converts the frame to a format that a recipe exists for, filters it, and converts it back.
    private func convert(_ frame: VideoFrame, _ info: VideoInfo) throws -> VideoFrame? {
        let back = VideoConversion(pixelFormat: VideoPixelFormat(rawValue: info.format))
        let plain = try converter.convert(frame, to: Self.detour)
        return try process(plain).map { try converter.convert($0, to: back) }
    }

    private static let detour = VideoConversion(pixelFormat: "Y444_16LE")

    /// How the components of a format are changed.
    private enum Recipe {
        case neutralChroma([VideoInfo.Component], littleEndian: Bool)
        case luminance([VideoInfo.Component])

        /// `nil` for formats whose samples do not occupy whole bytes or 16-bit words.
        init?(_ info: VideoInfo) {
            let components = Array(info.components.prefix(3))
            guard components.count == 3, !info.isComplex else { return nil }
            let isBytes = components.allSatisfy { $0.depth == 8 && $0.shift == 0 }
            let isWords = components.allSatisfy {
                $0.depth > 8 && $0.depth + $0.shift <= 16 && $0.pixelStride % 2 == 0
            }
            switch info.colorFamily {
            case .yuv where isBytes || isWords:
                self = .neutralChroma(
                    Array(components.dropFirst()), littleEndian: info.isLittleEndian)
            case .rgb where isBytes: self = .luminance(components)
            default: return nil
            }
        }

        func apply(_ planes: inout MutableVideoPlanes) {
            switch self {
            case .neutralChroma(let chroma, let littleEndian):
                for component in chroma { neutralize(&planes, component, littleEndian) }
            case .luminance(let channels): average(&planes, channels)
            }
        }

        private func neutralize(
            _ planes: inout MutableVideoPlanes, _ component: VideoInfo.Component,
            _ littleEndian: Bool
        ) {
            var plane = planes[component.plane]
            let layout = plane.layout
            plane.withUnsafeMutableBytes { bytes in
                let isWord = component.depth > 8
                let middle = UInt16(1) << (component.depth - 1 + component.shift)
                let word = littleEndian ? middle.littleEndian : middle.bigEndian
                for y in 0..<layout.rows {
                    let row = y * layout.stride
                    var at = row + component.offset
                    let end = min(row + layout.stride, bytes.count) - (isWord ? 1 : 0)
                    while at < end {
                        if isWord {
                            bytes.storeBytes(of: word, toByteOffset: at, as: UInt16.self)
                        } else {
                            bytes[at] = 128
                        }
                        at += component.pixelStride
                    }
                }
            }
        }

        /// Checks the bounds once per row, in release builds too: a pointer's subscript is checked
        /// in debug builds only.
        private func require(
            _ count: Int, _ row: Int, _ width: Int, _ channel: VideoInfo.Component
        ) {
            precondition(
                width > 0 && row + (width - 1) * channel.pixelStride < count,
                "a row of \(width) pixels ends beyond the plane's \(count) bytes")
        }

        private func average(
            _ planes: inout MutableVideoPlanes, _ channels: [VideoInfo.Component]
        ) {
            let weights = [77, 150, 29]
            let (width, height) = (planes.format.width, planes.format.height)
            var luminance = [UInt16](repeating: 0, count: width)
            for y in 0..<height {
                for x in 0..<width { luminance[x] = 0 }
                for (channel, weight) in zip(channels, weights) {
                    var plane = planes[channel.plane]
                    let row = y * plane.stride + channel.offset
                    plane.withUnsafeMutableBytes { bytes in
                        require(bytes.count, row, width, channel)
                        for x in 0..<width {
                            luminance[x] &+=
                                UInt16(bytes[row + x * channel.pixelStride]) &* UInt16(weight)
                        }
                    }
                }
                for channel in channels {
                    var plane = planes[channel.plane]
                    let row = y * plane.stride + channel.offset
                    plane.withUnsafeMutableBytes { bytes in
                        require(bytes.count, row, width, channel)
                        for x in 0..<width {
                            bytes[row + x * channel.pixelStride] = UInt8(luminance[x] >> 8)
                        }
                    }
                }
            }
        }
    }
}
