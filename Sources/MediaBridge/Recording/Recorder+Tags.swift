extension Recorder {
    /// Writes what a stream says of itself into the file, and into those that follow: title, artist, cover ….
    func note(_ tags: Tags, of kind: RecordingKind) {
        // Of the encoding it came in, and of pictures that are turned upright here.
        guard tracks[kind] != nil, let kept = tags.removing(Self.tagsOfEncoding) else { return }
        inbox.note(kept, of: kind)
    }

    private static let tagsOfEncoding: Set = [
        "codec", "video-codec", "audio-codec", "subtitle-codec", "container-format", "encoder",
        "encoder-version", "bitrate", "nominal-bitrate", "minimum-bitrate", "maximum-bitrate",
        "image-orientation",
    ]
}
