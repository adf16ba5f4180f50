extension UntrustedPolicy {
    /// Elements that are allowed, and the reason.
    package struct AllowedElements: Hashable, Sendable {
        /// The plugin's name.
        package var plugin: String
        /// The names of the allowed elements; `nil` for all elements of the plugin.
        package var factories: Set<String>?
        /// The prefix that an element's name must have; `nil` for no restriction.
        package var prefix: String?
        /// Why the elements are allowed.
        package var reason: String

        func covers(factory: String, plugin: String) -> Bool {
            plugin == self.plugin && factories?.contains(factory) ?? true
                && factory.hasPrefix(prefix ?? "")
        }
    }

    /// The complete list. Anything else is refused: elements that reach the network, a device, a
    /// display or another process; elements that choose and create other elements from a URI; and
    /// elements that have not been reviewed.
    package static let allowedElements: [AllowedElements] =
        inner + all(["filesrc", "filesink"], of: "coreelements", "files in the directory")
        + all(
            ["multifilesrc", "multifilesink", "imagesequencesrc"], of: "multifile",
            "numbered files in the directory")
        + all(
            ["decodebin", "parsebin"], of: "playback",
            "choose elements, each of which is checked")
        + all(libavEncoders, of: "libav", "encode, in memory")
        + [AllowedElements(plugin: "libav", prefix: "avdec_", reason: "decode, in memory")]
        + computing.flatMap { reason, plugins in
            plugins.split(separator: " ").map {
                AllowedElements(plugin: String($0), reason: reason)
            }
        }

    private static func all(
        _ factories: Set<String>, of plugin: String, _ reason: String
    ) -> [AllowedElements] {
        [AllowedElements(plugin: plugin, factories: factories, reason: reason)]
    }

    /// Plugins of which only some elements are allowed.
    private static let inner: [AllowedElements] =
        all(
            [
                "capsfilter", "clocksync", "concat", "dataurisrc", "downloadbuffer", "fakesink",
                "fakesrc", "funnel", "identity", "input-selector", "multiqueue", "output-selector",
                "queue", "queue2", "streamiddemux", "tee", "typefind", "valve",
            ], of: "coreelements", "pass data on inside the pipeline")
        // An element without a factory name is a plain bin that its parent bin created; `judge(_:)`
        // accepts these by type, not by name.
        + all(["bin", "pipeline"], of: "staticelements", "parentheses of a string")
        + all(
            ["breakmydata", "capssetter", "progressreport", "rndbuffersize", "taginject"],
            of: "debug", "change the data that passes through")
        + all(
            ["errorignore", "fakeaudiosink", "fakevideosink", "watchdog"], of: "debugutilsbad",
            "change or drop the data that passes through")
        + all(
            ["mp4mux", "qtmux", "3gppmux", "mj2mux", "ismlmux", "qtdemux"], of: "isomp4",
            "container in memory; their own files in the directory")
        + all(["streamsynchronizer"], of: "playback", "passes data on")
        + all(["jpegparse", "jifmux"], of: "jpegformat", "picture headers")

    /// FFmpeg encoders that load no other libraries.
    private static let libavEncoders: Set<String> = [
        "avenc_aac", "avenc_ac3", "avenc_alac", "avenc_dnxhd", "avenc_ffv1", "avenc_ffvhuff",
        "avenc_flv", "avenc_h263", "avenc_h263p", "avenc_huffyuv", "avenc_jpegls", "avenc_mjpeg",
        "avenc_mp2", "avenc_mpeg1video", "avenc_mpeg2video", "avenc_mpeg4", "avenc_prores",
        "avenc_prores_ks", "avenc_utvideo", "avenc_vc2", "avenc_wmv2",
    ]

    /// Plugins of which all elements are allowed: they turn buffers into buffers, and open no files,
    /// devices or connections.
    private static let computing: [(reason: String, plugins: String)] = [
        ("generate video or audio", "audiotestsrc videotestsrc"),
        ("exchange frames with the program", "app"),
        (
            "convert and scale",
            "audioconvert audiorate audioresample bayer imagefreeze videoconvertscale "
                + "videorate"
        ),
        (
            "change video",
            "alpha cairo coloreffects compositor deinterlace effectv gaudieffects "
                + "geometrictransform interlace overlaycomposition shapewipe smpte timecode "
                + "videobox videocrop videofilter videofiltersbad videomixer videosignal"
        ),
        ("draw text on video; fonts are read from the system", "pango"),
        (
            "change audio",
            "adder audiofx audiomixer cutter equalizer interleave level removesilence "
                + "replaygain spectrum speed videoframe_audiolevel volume"
        ),
        ("visualise audio", "audiovisualizers goom"),
        (
            "parse streams",
            "audioparsers codectimestamper ivfparse opusparse rawparse subparse "
                + "typefindfunctions videoparsersbad"
        ),
        (
            "encode or decode in memory",
            "alaw aom de265 faad flac jpeg lame mpg123 mulaw openh264 openjpeg opus png pnm "
                + "speex theora twolame voaacenc vorbis vpx wavpack webp x264 x265"
        ),
        (
            "containers, in memory",
            "avi flv id3demux id3tag matroska mpegpsdemux mpegpsmux mpegtsdemux mpegtsmux "
                + "multipart ogg segmentclip wavenc wavparse y4mdec y4menc"
        ),
    ]
}
