internal import CMediaBridge

/// What raw video caps say about the layout of their frames, as GStreamer computes it.
///
/// Immutable. Thread: any.
public final class VideoInfo: @unchecked Sendable {  // written in init alone
    let info: GstVideoInfo
    /// The caps that this was read from, or made for.
    public let caps: Caps

    /// Pixels in a row, or rows, that GStreamer's own elements take.
    private static let sizes = 1...32768

    /// `nil` for caps that are not raw video of one format and size.
    public init?(_ caps: Caps) {
        var info = GstVideoInfo()
        gst_video_info_init(&info)
        guard caps.mediaType == "video/x-raw", gst_caps_is_fixed(caps.pointer) != 0,
            gst_video_info_from_caps(&info, caps.pointer) != 0,
            Self.sizes.contains(Int(info.width)), Self.sizes.contains(Int(info.height))
        else { return nil }
        self.info = info
        self.caps = caps
    }

    /// The layout that GStreamer gives a format by default.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a name that GStreamer does
    ///   not know, or a size, rate or pixel shape it does not take.
    public convenience init(
        format: String, width: Int, height: Int, frameRate: (Int, Int)? = nil,
        pixelAspectRatio: (Int, Int) = (1, 1), colorimetry: String? = nil
    ) throws(PipelineError) {
        try GStreamer.initialize()
        let bad = PipelineError(
            .badValue, message: "not a video format: \(format) \(width)×\(height)",
            advice: "gst-inspect-1.0 videoconvert lists the formats")
        let raw = mb_video_format_from_string(format)
        guard raw != GST_VIDEO_FORMAT_UNKNOWN, raw != GST_VIDEO_FORMAT_ENCODED,
            Self.sizes.contains(width), Self.sizes.contains(height)
        else { throw bad }
        let limit = Int(gint.max)
        guard (1...limit).contains(pixelAspectRatio.0), (1...limit).contains(pixelAspectRatio.1),
            (0...limit).contains(frameRate?.0 ?? 0), (1...limit).contains(frameRate?.1 ?? 1)
        else {
            throw PipelineError(
                .badValue,
                message: "not a frame rate, or not a shape of pixels: "
                    + "\(frameRate.map { "\($0.0)/\($0.1)" } ?? "none"), "
                    + "\(pixelAspectRatio.0)/\(pixelAspectRatio.1)")
        }
        var info = GstVideoInfo()
        gst_video_info_init(&info)
        guard gst_video_info_set_format(&info, raw, guint(width), guint(height)) != 0 else {
            throw bad
        }
        if let frameRate {
            info.fps_n = gint(clamping: frameRate.0)
            info.fps_d = gint(clamping: frameRate.1)
        }
        info.par_n = gint(clamping: pixelAspectRatio.0)
        info.par_d = gint(clamping: pixelAspectRatio.1)
        if let colorimetry { gst_video_colorimetry_from_string(&info.colorimetry, colorimetry) }
        guard let caps = gst_video_info_to_caps(&info) else { throw bad }
        self.init(info: info, caps: Caps(adopting: caps))
    }

    private init(info: GstVideoInfo, caps: Caps) {
        self.info = info
        self.caps = caps
    }

    /// `I420`
    public var format: String {
        String(cString: gst_video_format_to_string(info.finfo.pointee.format))
    }
    /// Pixels in a row.
    public var width: Int { Int(info.width) }
    /// Rows.
    public var height: Int { Int(info.height) }
    /// `nil` for a variable rate.
    public var frameRate: (numerator: Int, denominator: Int)? {
        info.fps_n > 0 ? (Int(info.fps_n), Int(info.fps_d)) : nil
    }
    /// Width of a pixel over its height.
    public var pixelAspectRatio: (numerator: Int, denominator: Int) {
        (Int(info.par_n), Int(info.par_d))
    }
    /// `bt709`, `2:4:16:3`; `nil` where it is not known.
    public var colorimetry: String? {
        var colorimetry = info.colorimetry
        guard let text = gst_video_colorimetry_to_string(&colorimetry) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// Where samples of colour lie between those of brightness: `mpeg2`; `nil` where it is not known.
    public var chromaSite: String? {
        guard info.chroma_site != GST_VIDEO_CHROMA_SITE_UNKNOWN,
            let text = gst_video_chroma_site_to_string(info.chroma_site)
        else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }
    /// `progressive`, `interleaved`, `mixed`; `fields` and `alternate` have one field in each buffer.
    public var interlaceMode: String {
        String(cString: gst_video_interlace_mode_to_string(info.interlace_mode))
    }

    /// Whether both describe the same pictures, whatever their rates.
    public func hasSamePictures(as other: VideoInfo) -> Bool {
        var own = info
        own.fps_n = other.info.fps_n
        own.fps_d = other.info.fps_d
        let rateFlag = GST_VIDEO_FLAG_VARIABLE_FPS.rawValue
        own.flags.rawValue &= ~rateFlag
        own.flags.rawValue |= other.info.flags.rawValue & rateFlag
        return withUnsafePointer(to: other.info) { gst_video_info_is_equal(&own, $0) != 0 }
            && info.chroma_site == other.info.chroma_site
    }

    /// Bytes of a frame in the default layout.
    public var byteCount: Int { Int(info.size) }

    /// What the components mean.
    public enum ColorFamily: Sendable { case yuv, rgb, gray, other }

    /// Whether pixels are luma and chroma, red, green and blue, or luminance.
    public var colorFamily: ColorFamily {
        if mb_video_format_is_gray(info.finfo) != 0 { return .gray }
        if mb_video_format_is_yuv(info.finfo) != 0 { return .yuv }
        return mb_video_format_is_rgb(info.finfo) != 0 ? .rgb : .other
    }

    /// Whether samples are packed or tiled in a way that rows and strides do not tell.
    public var isComplex: Bool { mb_video_format_is_complex(info.finfo) != 0 }

    /// Whether samples lie in tiles: a stride counts tiles then.
    public var isTiled: Bool { mb_video_format_is_tiled(info.finfo) != 0 }

    /// Whether samples of more than eight bits have their low byte first.
    public var isLittleEndian: Bool { mb_video_format_is_little_endian(info.finfo) != 0 }

    /// Where a colour component lies: Y, U, V or R, G, B, and alpha as the fourth.
    public struct Component: Hashable, Sendable {
        public let plane: Int
        /// Bytes from the start of a pixel group to the component.
        public let offset: Int
        /// Bytes from one sample to the next.
        public let pixelStride: Int
        /// Bits below the sample in its word.
        public let shift: Int
        /// Bits of the sample.
        public let depth: Int
    }

    /// Where each colour lies in a frame.
    public var components: [Component] {
        (0..<mb_video_format_components(info.finfo)).map { c in
            let depth = Int(mb_video_format_component_depth(info.finfo, c))
            let offset = Int(mb_video_format_component_offset(info.finfo, c))
            // Of P010 and its like, GStreamer counts V's offset in samples, not in bytes.
            let isCountedInSamples = depth > 8 && offset == 1
            return Component(
                plane: Int(mb_video_format_component_plane(info.finfo, c)),
                offset: isCountedInSamples ? 2 : offset,
                pixelStride: Int(mb_video_format_component_pixel_stride(info.finfo, c)),
                shift: Int(mb_video_format_component_shift(info.finfo, c)),
                depth: depth)
        }
    }
}

extension VideoInfo {
    /// A plane's place in the default layout.
    public struct PlaneLayout: Hashable, Sendable {
        /// Bytes from the start of the frame.
        public let offset: Int
        public let stride: Int
        public let rows: Int
        public let width: Int
        public let pixelStride: Int
        public let depth: Int
    }

    /// Where the planes lie by default.
    public var planeLayouts: [PlaneLayout] {
        var frame = GstVideoFrame()
        frame.info = info
        let offsets = [info.offset.0, info.offset.1, info.offset.2, info.offset.3]
        let strides = [info.stride.0, info.stride.1, info.stride.2, info.stride.3]
        return (0..<info.finfo.pointee.n_planes).map { index in
            let plane = mb_video_frame_plane(&frame, index)
            return PlaneLayout(
                offset: Int(offsets[Int(index)]), stride: Int(strides[Int(index)]),
                rows: Int(plane.rows), width: Int(plane.width),
                pixelStride: Int(plane.pixel_stride), depth: Int(plane.depth))
        }
    }
}
