/// What differs between codecs of pictures, outside of recordings and RTP: a row for each codec.
struct VideoCodecRow: Sendable {
    let codec: VideoCodec
    /// The media type in GStreamer's caps.
    let mediaType: String
    /// The fields of the caps of whole units, each after a comma.
    var fields = ""
    /// The same for units whose codec data is in the caps.
    var fieldsWithCodecData = ""
    /// The maximum number of units by which a picture may come out after its own unit: the size of the
    /// decoded picture buffer, for codecs that reorder pictures.
    var reordering = 0
    /// Decoders with their settings, the preferred one first. They use one thread: several threads
    /// delay the output by as many pictures. Damaged units must never accumulate to a pipeline
    /// error.
    let decoders: [(element: String, settings: String)]
}

extension VideoCodec {
    /// The codec's row; `nil` for a codec that has only its media type as its name.
    var row: VideoCodecRow? { Self.rows[self] }

    private static let rows = Dictionary(uniqueKeysWithValues: table.map { ($0.codec, $0) })

    static let table = [
        VideoCodecRow(
            codec: .h264, mediaType: "video/x-h264",
            fields: ",stream-format=byte-stream,alignment=au",
            fieldsWithCodecData: ",stream-format=avc,alignment=au", reordering: 16,
            // In strict mode libav delays sixteen pictures if the stream does not declare its reordering.
            decoders: [
                ("avdec_h264", "max-threads=1 std-compliance=normal max-errors=-1"),
                ("openh264dec", "max-errors=-1"),
            ]),
        VideoCodecRow(
            codec: .h265, mediaType: "video/x-h265",
            fields: ",stream-format=byte-stream,alignment=au",
            fieldsWithCodecData: ",stream-format=hvc1,alignment=au", reordering: 16,
            decoders: [
                ("avdec_h265", "max-threads=1 std-compliance=normal max-errors=-1"),
                ("libde265dec", "max-errors=-1"),
            ]),
        VideoCodecRow(
            codec: .vp8, mediaType: "video/x-vp8",
            decoders: [
                ("vp8dec", "threads=1 max-errors=-1"), ("avdec_vp8", "max-threads=1 max-errors=-1"),
            ]),
        VideoCodecRow(
            codec: .vp9, mediaType: "video/x-vp9", fields: ",alignment=super-frame",
            fieldsWithCodecData: ",alignment=super-frame",
            decoders: [
                ("vp9dec", "threads=1 max-errors=-1"), ("avdec_vp9", "max-threads=1 max-errors=-1"),
            ]),
        VideoCodecRow(
            codec: .av1, mediaType: "video/x-av1", fields: ",stream-format=obu-stream,alignment=tu",
            fieldsWithCodecData: ",stream-format=obu-stream,alignment=tu",
            decoders: [("av1dec", "max-errors=-1")]),
        VideoCodecRow(
            codec: .mjpeg, mediaType: "image/jpeg",
            decoders: [
                ("jpegdec", "max-errors=-1"), ("avdec_mjpeg", "max-threads=1 max-errors=-1"),
            ]),
        VideoCodecRow(
            codec: .ffv1, mediaType: "video/x-ffv", fields: ",ffversion=1",
            fieldsWithCodecData: ",ffversion=1",
            decoders: [("avdec_ffv1", "max-threads=1 max-errors=-1")]),
    ]
}
