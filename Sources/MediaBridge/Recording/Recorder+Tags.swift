extension Recorder {
    /// Writes the tags of a stream (title, artist, cover …) into the current file and those that
    /// follow.
    func note(_ tags: Tags, of kind: RecordingKind) {
        // Drops tags of the source's encoding, and the orientation, because pictures are rotated
        // upright here.
        guard tracks[kind] != nil, let kept = tags.removing(Self.tagsOfEncoding) else { return }
        inbox.note(kept, of: kind)
    }

    private static let tagsOfEncoding: Set = [
        "codec", "video-codec", "audio-codec", "subtitle-codec", "container-format", "encoder",
        "encoder-version", "bitrate", "nominal-bitrate", "minimum-bitrate", "maximum-bitrate",
        "image-orientation",
    ]
}
