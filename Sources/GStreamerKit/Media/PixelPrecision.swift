internal import CMediaBridge

/// How much of a picture a pixel format keeps.
package struct PixelPrecision: Hashable, Sendable {
    /// How many columns, and rows, share a colour sample, as powers of two; both zero for RGB and for grey.
    let columns, rows: Int
    /// Bits of a sample.
    package let bits: Int
    /// Whether pixels may be transparent.
    let hasAlpha: Bool
    let family: VideoInfo.ColorFamily

    /// What another format loses, the most important loss first; all zero for nothing. Grey pictures keep
    /// everything as luma, whereas a change between luma and RGB rounds each pixel.
    private func losses(in other: PixelPrecision) -> [Int] {
        [
            hasAlpha && !other.hasAlpha ? 1 : 0,
            family == other.family || family == .gray && other.family == .yuv ? 0 : 1,
            family == .gray
                ? 0 : max(0, other.columns - columns) + max(0, other.rows - rows),
            max(0, bits - other.bits),
        ]
    }

    /// What another format stores without need, the most expensive first.
    private func excess(in other: PixelPrecision) -> [Int] {
        [
            family == other.family ? 0 : 1, other.hasAlpha && !hasAlpha ? 1 : 0,
            max(0, columns - other.columns) + max(0, rows - other.rows), max(0, other.bits - bits),
        ]
    }

    /// Whether something is lost in the other format.
    package func exceeds(_ other: PixelPrecision) -> Bool { losses(in: other).contains { $0 > 0 } }

    /// Returns the format that loses least, and of several the smallest; `nil` if none is known.
    ///
    /// - Parameter formats: GStreamer's names; formats that this version does not have are ignored.
    package func nearest(among formats: [String]) -> String? {
        let known = formats.compactMap { format in
            (try? VideoInfo(format: format, width: 2, height: 2)).map { (format, $0.precision) }
        }
        return known.min { one, other in
            let costs = [one, other].map { losses(in: $0.1) + excess(in: $0.1) }
            return costs[0].lexicographicallyPrecedes(costs[1])
        }?.0
    }
}

extension VideoInfo {
    /// How much of a picture the format keeps.
    package var precision: PixelPrecision {
        let format = info.finfo.pointee
        let isGray = colorFamily == .gray
        return PixelPrecision(
            columns: isGray ? 0 : Int(format.w_sub.1), rows: isGray ? 0 : Int(format.h_sub.1),
            bits: Int(format.depth.0),
            hasAlpha: format.flags.rawValue & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0,
            // A palette has colours of RGB.
            family: isGray ? .gray : colorFamily == .other ? .rgb : colorFamily)
    }
}
