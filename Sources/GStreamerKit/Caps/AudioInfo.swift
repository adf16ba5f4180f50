internal import CMediaBridge

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

extension Caps {
    /// Sample rate in Hz and number of channels of the first structure; zero for a field that is
    /// missing or not a fixed integer.
    package var soundLayout: (rate: Int, channels: Int) {
        guard gst_caps_get_size(pointer) > 0, let structure = gst_caps_get_structure(pointer, 0)
        else { return (0, 0) }
        var rate: gint = 0
        var channels: gint = 0
        gst_structure_get_int(structure, "rate", &rate)
        gst_structure_get_int(structure, "channels", &channels)
        return (Int(rate), Int(channels))
    }
}
