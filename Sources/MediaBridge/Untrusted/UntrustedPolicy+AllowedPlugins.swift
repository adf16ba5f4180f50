extension UntrustedPolicy {
    /// A plugin all of whose elements are allowed.
    struct Computing {
        let plugin: String
        let reason: String
    }

    /// Plugins whose elements turn buffers into buffers, and open no files, devices or connections.
    static let computing: [Computing] = reasons.flatMap { reason, plugins in
        plugins.split(separator: " ").map { Computing(plugin: String($0), reason: reason) }
    }

    private static let reasons = [
        (
            "generate video or audio",
            "audiotestsrc videotestsrc"
        ),
        (
            "exchange frames with the program",
            "app"
        ),
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
        (
            "draw text on video; fonts are read from the system",
            "pango"
        ),
        (
            "change audio",
            "adder audiofx audiomixer cutter equalizer interleave level removesilence "
                + "replaygain spectrum speed videoframe_audiolevel volume"
        ),
        (
            "visualise audio",
            "audiovisualizers goom"
        ),
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
