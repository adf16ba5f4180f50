internal import CMediaBridge

// MARK: Video

/// Memory layout of the frames of raw video caps, as GStreamer computes it.
///
/// Immutable. Thread: any.
package final class VideoInfo: @unchecked Sendable {  // written only in init
    let info: GstVideoInfo
    /// The caps that it was read from, or that were made for it.
    package let caps: Caps

    /// Widths and heights that GStreamer's own elements accept, in pixels.
    private static let sizes = 1...32768

    /// Reads caps; `nil` unless they are raw video with a fixed format and size.
    package init?(_ caps: Caps) {
        var info = GstVideoInfo()
        gst_video_info_init(&info)
        guard caps.mediaType == "video/x-raw", gst_caps_is_fixed(caps.pointer) != 0,
            gst_video_info_from_caps(&info, caps.pointer) != 0,
            Self.sizes.contains(Int(info.width)), Self.sizes.contains(Int(info.height))
        else { return nil }
        self.info = info
        self.caps = caps
    }

    /// Makes a format with GStreamer's default layout.
    ///
    /// - Parameters:
    ///   - format: GStreamer's name of the pixel format, for example `I420`.
    ///   - width: Pixels per row.
    ///   - height: Number of rows.
    ///   - frameRate: Frames per second as a fraction; `nil` if it is not specified.
    ///   - pixelAspectRatio: Width of a pixel over its height.
    ///   - colorimetry: GStreamer's name, for example `bt709`; `nil` for the format's default.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for an unknown format, or a
    ///   size, frame rate or pixel aspect ratio that GStreamer does not accept.
    package convenience init(
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
                message: "frame rate or pixel aspect ratio out of range: "
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

    /// GStreamer's name of the pixel format, for example `I420`.
    package var format: String {
        String(cString: gst_video_format_to_string(info.finfo.pointee.format))
    }
    /// Pixels per row.
    package var width: Int { Int(info.width) }
    /// Number of rows.
    package var height: Int { Int(info.height) }
    /// Frames per second as a fraction; `nil` for a variable rate.
    package var frameRate: (numerator: Int, denominator: Int)? {
        info.fps_n > 0 ? (Int(info.fps_n), Int(info.fps_d)) : nil
    }
    /// Width of a pixel over its height.
    package var pixelAspectRatio: (numerator: Int, denominator: Int) {
        (Int(info.par_n), Int(info.par_d))
    }
    /// GStreamer's name of the colorimetry: `bt709`, `2:4:16:3`; `nil` if it is unknown.
    package var colorimetry: String? {
        var colorimetry = info.colorimetry
        return String(adopting: gst_video_colorimetry_to_string(&colorimetry))
    }

    /// Position of the chroma samples relative to the luma samples, for example `mpeg2`; `nil` if
    /// it is unknown.
    package var chromaSite: String? {
        guard info.chroma_site != GST_VIDEO_CHROMA_SITE_UNKNOWN else { return nil }
        return String(adopting: gst_video_chroma_site_to_string(info.chroma_site))
    }
    /// GStreamer's name of the interlace mode: `progressive`, `interleaved`, `mixed`, or `fields`
    /// and `alternate`, in which the rows of a picture do not lie one after the other.
    package var interlaceMode: String {
        String(cString: gst_video_interlace_mode_to_string(info.interlace_mode))
    }

    /// Returns whether both describe the same frames, apart from the frame rate. A colour that only one of the
    /// two states counts as equal.
    package func hasSamePictures(as other: VideoInfo) -> Bool {
        var own = info
        own.fps_n = other.info.fps_n
        own.fps_d = other.info.fps_d
        let rateFlag = GST_VIDEO_FLAG_VARIABLE_FPS.rawValue
        own.flags.rawValue &= ~rateFlag
        own.flags.rawValue |= other.info.flags.rawValue & rateFlag
        func areStated(_ field: String) -> Bool {
            caps.text(of: field) != nil && other.caps.text(of: field) != nil
        }
        if !areStated("colorimetry") { own.colorimetry = other.info.colorimetry }
        if !areStated("chroma-site") { own.chroma_site = other.info.chroma_site }
        return withUnsafePointer(to: other.info) { gst_video_info_is_equal(&own, $0) != 0 }
            && own.chroma_site == other.info.chroma_site
    }

    /// Bytes of a frame in the default layout.
    package var byteCount: Int { Int(info.size) }

    /// The colour model of a format's components.
    package enum ColorFamily: Sendable {
        /// Luma and two colour differences.
        case yuv
        /// Red, green and blue.
        case rgb
        /// Luma only.
        case gray
        /// Anything else: indices into a palette, for example.
        case other
    }

    /// The colour model of the format.
    package var colorFamily: ColorFamily {
        if mb_video_format_is_gray(info.finfo) != 0 { return .gray }
        if mb_video_format_is_yuv(info.finfo) != 0 { return .yuv }
        return mb_video_format_is_rgb(info.finfo) != 0 ? .rgb : .other
    }

    /// Whether samples are packed or tiled in a way that plane strides and pixel strides do not
    /// describe.
    package var isComplex: Bool { mb_video_format_is_complex(info.finfo) != 0 }

    /// Whether samples are stored in tiles; a stride then counts tiles.
    package var isTiled: Bool { mb_video_format_is_tiled(info.finfo) != 0 }

    /// Whether samples of more than eight bits are little-endian.
    package var isLittleEndian: Bool { mb_video_format_is_little_endian(info.finfo) != 0 }

    /// Memory layout of one component: Y, U, V or R, G, B, and alpha as the fourth.
    package struct Component: Hashable, Sendable {
        /// Index of the plane that contains the component.
        package let plane: Int
        /// Bytes from the start of a pixel group to the component's sample.
        package let offset: Int
        /// Bytes from one sample of the component to the next.
        package let pixelStride: Int
        /// Number of bits below the sample in its word.
        package let shift: Int
        /// Number of bits of the sample.
        package let depth: Int
    }

    /// The layout of each component in a frame.
    package var components: [Component] {
        (0..<mb_video_format_components(info.finfo)).map { c in
            let depth = Int(mb_video_format_component_depth(info.finfo, c))
            let offset = Int(mb_video_format_component_offset(info.finfo, c))
            // For P010 and similar formats, GStreamer gives V's offset in samples, not in bytes.
            let isCountedInSamples = depth > 8 && offset == 1
            return Component(
                plane: Int(mb_video_format_component_plane(info.finfo, c)),
                offset: isCountedInSamples ? 2 : offset,
                pixelStride: Int(mb_video_format_component_pixel_stride(info.finfo, c)),
                shift: Int(mb_video_format_component_shift(info.finfo, c)),
                depth: depth)
        }
    }

    /// Memory layout of a plane.
    package struct PlaneLayout: Hashable, Sendable {
        /// Bytes from the start of the memory to the plane.
        package let offset: Int
        /// Bytes from one row to the next.
        package let stride: Int
        /// Number of rows.
        package let rows: Int
        /// Samples per row.
        package let width: Int
        /// Bytes from one sample to the next; zero if that is not a whole number.
        package let pixelStride: Int
        /// Significant bits of a sample.
        package let depth: Int

        init(_ plane: MBPlane, offset: Int) {
            self.offset = offset
            (stride, rows, width) = (Int(plane.stride), Int(plane.rows), Int(plane.width))
            (pixelStride, depth) = (Int(plane.pixel_stride), Int(plane.depth))
        }
    }

    /// The layout of each plane in the default layout.
    package var planeLayouts: [PlaneLayout] {
        var frame = GstVideoFrame()
        frame.info = info
        let offsets = [info.offset.0, info.offset.1, info.offset.2, info.offset.3]
        return (0..<info.finfo.pointee.n_planes).map { index in
            PlaneLayout(mb_video_frame_plane(&frame, index), offset: Int(offsets[Int(index)]))
        }
    }
}

// MARK: Audio

/// Sample layout of raw audio caps, as GStreamer computes it.
///
/// Immutable. Thread: any.
package final class AudioInfo: @unchecked Sendable {  // written in init alone
    let info: GstAudioInfo
    /// The caps that it was read from, or that were made for it.
    package let caps: Caps

    /// Reads caps; `nil` unless they are raw audio with a fixed format, rate and number of
    /// channels.
    package init?(_ caps: Caps) {
        var info = GstAudioInfo()
        gst_audio_info_init(&info)
        guard caps.mediaType == "audio/x-raw", gst_caps_is_fixed(caps.pointer) != 0,
            gst_audio_info_from_caps(&info, caps.pointer) != 0,
            info.rate > 0, info.channels > 0, info.bpf > 0
        else { return nil }
        self.info = info
        self.caps = caps
    }

    /// Makes a layout and its caps.
    ///
    /// - Parameters:
    ///   - format: GStreamer's name of the sample format, for example `S16LE`.
    ///   - rate: Samples per second and channel, in Hz.
    ///   - channels: Number of channels.
    ///   - channelMask: Speaker positions of the channels; zero for mono, and for unpositioned
    ///     channels.
    ///   - isPlanar: Whether each channel has its own plane.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for an unknown format, or a
    ///   rate, number of channels or mask that GStreamer does not accept.
    package init(
        format: String, rate: Int, channels: Int, channelMask: UInt64, isPlanar: Bool
    ) throws(PipelineError) {
        try GStreamer.initialize()
        let raw = mb_audio_format_from_string(format)
        var info = GstAudioInfo()
        gst_audio_info_init(&info)
        guard raw != GST_AUDIO_FORMAT_UNKNOWN, raw != GST_AUDIO_FORMAT_ENCODED,
            channelMask == 0 || channelMask.nonzeroBitCount == channels,
            mb_audio_info_set(
                &info, raw, gint(clamping: rate), gint(clamping: channels), guint64(channelMask),
                isPlanar ? 1 : 0) != 0,
            let caps = gst_audio_info_to_caps(&info)
        else {
            throw PipelineError(
                .badValue,
                message: "not an audio format: \(format) \(rate) Hz, \(channels) channels, mask "
                    + String(channelMask, radix: 16),
                advice: "gst-inspect-1.0 audioconvert lists the formats")
        }
        self.info = info
        self.caps = Caps(adopting: caps)
    }

    /// GStreamer's name of the sample format, for example `S16LE`.
    package var format: String {
        String(cString: gst_audio_format_to_string(info.finfo.pointee.format))
    }
    /// Samples per second and channel, in Hz.
    package var rate: Int { Int(info.rate) }
    /// Number of channels.
    package var channels: Int { Int(info.channels) }
    /// Speaker positions of the channels; zero for mono, and for unpositioned channels.
    package var channelMask: UInt64 {
        var info = self.info
        return UInt64(mb_audio_info_mask(&info))
    }
    /// Whether each channel has its own plane.
    package var isPlanar: Bool { info.layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED }
    /// Bytes of one sample of all channels together.
    package var bytesPerFrame: Int { Int(info.bpf) }
}
