/// The complete list of what is allowed. Anything else is refused: elements that reach the network, a
/// device, a display or another process; elements that choose and create other elements from a URI;
/// and elements that have not been reviewed.
extension UntrustedPolicy {
    /// Returns whether an element is allowed.
    package func allows(factory: String, plugin: String) -> Bool {
        // The decoders of FFmpeg work in memory.
        if plugin == "libav", factory.hasPrefix("avdec_") { return true }
        return Self.elements[plugin]?.contains(factory) ?? Self.plugins.contains(plugin)
    }

    /// Plugins of which only some elements are allowed.
    private static let elements: [String: Set<String>] = [
        // They pass data on inside the pipeline; files are in the directory.
        "coreelements": [
            "capsfilter", "clocksync", "concat", "dataurisrc", "downloadbuffer", "fakesink",
            "fakesrc", "filesink", "filesrc", "funnel", "identity", "input-selector", "multiqueue",
            "output-selector", "queue", "queue2", "streamiddemux", "tee", "typefind", "valve",
        ],
        // Parentheses of a string. An element without a factory name is a plain bin that its parent
        // bin created; `judge(_:)` accepts these by type, not by name.
        "staticelements": ["bin", "pipeline"],
        // They change or drop the data that passes through.
        "debug": ["breakmydata", "capssetter", "progressreport", "rndbuffersize", "taginject"],
        "debugutilsbad": ["errorignore", "fakeaudiosink", "fakevideosink", "watchdog"],
        // Containers in memory; their own files are in the directory.
        "isomp4": ["mp4mux", "qtmux", "3gppmux", "mj2mux", "ismlmux", "qtdemux"],
        // They choose elements, each of which is checked, or pass data on.
        "playback": ["decodebin", "parsebin", "streamsynchronizer"],
        // Picture headers.
        "jpegformat": ["jpegparse", "jifmux"],
        // Numbered files in the directory.
        "multifile": ["multifilesrc", "multifilesink", "imagesequencesrc"],
        // Encoders of FFmpeg that load no other libraries, and work in memory.
        "libav": [
            "avenc_aac", "avenc_ac3", "avenc_alac", "avenc_dnxhd", "avenc_ffv1", "avenc_ffvhuff",
            "avenc_flv", "avenc_h263", "avenc_h263p", "avenc_huffyuv", "avenc_jpegls",
            "avenc_mjpeg", "avenc_mp2", "avenc_mpeg1video", "avenc_mpeg2video", "avenc_mpeg4",
            "avenc_prores", "avenc_prores_ks", "avenc_utvideo", "avenc_vc2", "avenc_wmv2",
        ],
    ]

    /// Plugins of which all elements are allowed: they turn buffers into buffers, and open no files,
    /// devices or connections.
    private static let plugins: Set<String> = [
        // They generate video or audio, or exchange frames with the program.
        "app", "audiotestsrc", "videotestsrc",
        // They convert and scale.
        "audioconvert", "audiorate", "audioresample", "bayer", "imagefreeze", "videoconvertscale",
        "videorate",
        // They change video.
        "alpha", "cairo", "coloreffects", "compositor", "deinterlace", "effectv", "gaudieffects",
        "geometrictransform", "interlace", "overlaycomposition", "shapewipe", "smpte", "timecode",
        "videobox", "videocrop", "videofilter", "videofiltersbad", "videomixer", "videosignal",
        // They draw text on video; fonts are read from the system.
        "pango",
        // They change audio, or make it visible.
        "adder", "audiofx", "audiomixer", "cutter", "equalizer", "interleave", "level",
        "removesilence", "replaygain", "spectrum", "speed", "videoframe_audiolevel", "volume",
        "audiovisualizers", "goom",
        // They parse streams.
        "audioparsers", "codectimestamper", "ivfparse", "opusparse", "rawparse", "subparse",
        "typefindfunctions", "videoparsersbad",
        // They encode or decode in memory.
        "alaw", "aom", "de265", "faad", "flac", "jpeg", "lame", "mpg123", "mulaw", "openh264",
        "openjpeg", "opus", "png", "pnm", "speex", "theora", "twolame", "voaacenc", "vorbis", "vpx",
        "wavpack", "webp", "x264", "x265",
        // Containers, in memory.
        "avi", "flv", "id3demux", "id3tag", "matroska", "mpegpsdemux", "mpegpsmux", "mpegtsdemux",
        "mpegtsmux", "multipart", "ogg", "segmentclip", "wavenc", "wavparse", "y4mdec", "y4menc",
    ]
}
