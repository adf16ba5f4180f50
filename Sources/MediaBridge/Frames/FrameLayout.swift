/// The video format of one set of caps, as GStreamer's and as MediaCore's type. Created once for
/// each caps, and shared by all frames that have them.
final class FrameLayout: Sendable {
    let info: VideoInfo
    let caps: Caps
    var format: VideoFormat { formats[0] }
    /// An array that contains only the format, as ``MutableVideoPlanes`` takes it.
    let formats: [VideoFormat]
    /// GStreamer's default layout of the planes.
    let planes: [VideoPlaneLayout]

    init(_ info: VideoInfo) {
        self.info = info
        self.caps = info.caps
        self.formats = [VideoFormat(info)]
        self.planes = info.defaultPlanes
    }

    /// Throws if planes that the program gives do not fit this format: elements know only the
    /// format, and would read beyond the planes.
    func check(_ planes: [VideoPlaneLayout]) throws(FrameError) {
        try VideoPlaneLayout.check(planes, against: self.planes, of: format)
        // GStreamer counts strides in 32 bits.
        guard planes.allSatisfy({ $0.stride <= Int(Int32.max) }) else {
            throw FrameError(.badLayout, "a stride of \(format) is too large")
        }
        guard !info.isTiled || planes.map(\.stride) == self.planes.map(\.stride) else {
            throw FrameError(.badLayout, "\(format) is tiled, and must have GStreamer's strides")
        }
    }

    /// Returns the layout that GStreamer gives to a format.
    ///
    /// - Throws: ``PipelineError`` for a format that GStreamer does not accept.
    static func of(_ format: VideoFormat) throws(PipelineError) -> FrameLayout {
        try recent.value(for: format)
    }

    private static let recent = RecentlyMade<VideoFormat, FrameLayout> {
        format throws(PipelineError) in FrameLayout(try VideoInfo(format))
    }
}

extension VideoFormat {
    /// Creates the format that raw video caps describe.
    init(_ info: VideoInfo) {
        self.init(
            VideoPixelFormat(rawValue: info.format), width: info.width, height: info.height,
            frameRate: info.frameRate.map { Rational($0.numerator, $0.denominator) },
            pixelAspectRatio: Rational(
                info.pixelAspectRatio.numerator, info.pixelAspectRatio.denominator),
            colorimetry: info.colorimetry)
    }
}

extension VideoInfo {
    /// Creates GStreamer's layout for a format.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a pixel format that
    ///   GStreamer does not know, or a size that it does not accept.
    convenience init(_ format: VideoFormat) throws(PipelineError) {
        try self.init(
            format: format.pixelFormat.rawValue, width: format.width, height: format.height,
            frameRate: format.frameRate.map { ($0.numerator, $0.denominator) },
            pixelAspectRatio: (
                format.pixelAspectRatio.numerator, format.pixelAspectRatio.denominator
            ),
            colorimetry: format.colorimetry)
    }
}

extension VideoInfo {
    /// The default layout in MediaCore's type.
    var defaultPlanes: [VideoPlaneLayout] {
        planeLayouts.map { plane in
            VideoPlaneLayout(
                offset: plane.offset, stride: plane.stride, rows: plane.rows, width: plane.width,
                pixelStride: plane.pixelStride, depth: plane.depth)
        }
    }
}
