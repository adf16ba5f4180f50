extension Recorder {
    /// Writes the tags of a stream (title, artist, cover …) into the current file and all later files.
    func note(_ tags: Tags, of kind: RecordingKind) {
        // Drops tags of the source's encoding. Pictures that are encoded here are upright, so only files of
        // copied pictures use the orientation.
        guard tracks[kind] != nil, let kept = tags.removing(Self.tagsOfEncoding) else { return }
        inbox.note(kept, of: kind)
    }

    /// Notes the rotation that copied pictures need.
    func note(_ rotation: VideoRotation) {
        let isNew = self.rotation.withLock { present in
            defer { present = rotation }
            return present != rotation
        }
        guard isNew, let tags = Tags.orientation(clockwise: rotation.rawValue) else { return }
        note(tags, of: .video)
    }

    private static let tagsOfEncoding: Set = [
        "codec", "video-codec", "audio-codec", "subtitle-codec", "container-format", "encoder",
        "encoder-version", "bitrate", "nominal-bitrate", "minimum-bitrate", "maximum-bitrate",
    ]
}
