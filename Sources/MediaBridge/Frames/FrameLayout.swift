/// What one set of caps says of its frames, in both vocabularies. Made once for each caps, shared by
/// all frames that have them.
final class FrameLayout: Sendable {
    let info: VideoInfo
    let caps: Caps
    let format: VideoFormat
    /// Where GStreamer puts the planes by default.
    private let planes: [VideoPlaneLayout]

    init(_ info: VideoInfo) {
        self.info = info
        self.caps = info.caps
        self.format = VideoFormat(info)
        self.planes = info.defaultPlanes
    }

    /// Throws where planes of a program's are not those of this format: elements know the format alone,
    /// and would read on behind them.
    func check(_ planes: [VideoPlaneLayout]) throws(FrameError) {
        try VideoPlaneLayout.check(planes, against: self.planes, of: format)
        // GStreamer counts strides in 32 bits.
        guard planes.allSatisfy({ $0.stride <= Int(Int32.max) }) else {
            throw FrameError(.badLayout, "no row of \(format) is as long as its stride")
        }
        guard !info.isTiled || planes.map(\.stride) == self.planes.map(\.stride) else {
            throw FrameError(.badLayout, "tiles of \(format) lie as GStreamer lays them out")
        }
    }

    convenience init(_ format: VideoFormat) throws(PipelineError) {
        self.init(try VideoInfo(format))
    }
}

extension VideoFormat {
    /// The format that raw video caps describe.
    public init(_ info: VideoInfo) {
        self.init(
            VideoPixelFormat(rawValue: info.format), width: info.width, height: info.height,
            frameRate: info.frameRate.map { Rational($0.numerator, $0.denominator) },
            pixelAspectRatio: Rational(
                info.pixelAspectRatio.numerator, info.pixelAspectRatio.denominator),
            colorimetry: info.colorimetry)
    }
}

extension VideoInfo {
    /// GStreamer's layout for a format.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a pixel format that
    ///   GStreamer does not know, or a size it does not take.
    public convenience init(_ format: VideoFormat) throws(PipelineError) {
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
    /// The default layout as MediaCore takes it.
    var defaultPlanes: [VideoPlaneLayout] {
        planeLayouts.map { plane in
            VideoPlaneLayout(
                offset: plane.offset, stride: plane.stride, rows: plane.rows, width: plane.width,
                pixelStride: plane.pixelStride, depth: plane.depth)
        }
    }
}
