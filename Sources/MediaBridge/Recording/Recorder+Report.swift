extension Recorder {
    /// The events from now on. Each caller gets a separate stream, which ends with
    /// ``RecorderEvent/finished(_:)``. If a reader falls more than 256 events behind, the oldest
    /// are dropped.
    public var events: AsyncStream<RecorderEvent> { listeners.stream() }

    /// Calls `body` for every event, on the thread that reports it. `body` must return at once.
    func onEvent(_ body: @escaping @Sendable (RecorderEvent) -> Void) { listeners.onEvent(body) }

    /// The current progress of a recording.
    public struct Progress: Hashable, Sendable {
        /// Bytes of all files.
        public var bytes: Int
        /// Media time of all files, without pauses.
        public var duration: Duration
        /// Bytes per second over the last two seconds.
        public var bytesPerSecond: Double
        /// Bytes free on the disk; `nil` if unknown.
        public var freeBytes: Int?
    }

    /// The current progress. Queries the disk. Thread: any but a streaming thread.
    public var progress: Progress {
        let report = self.report
        return Progress(
            bytes: report.bytes, duration: report.duration, bytesPerSecond: watch.rate,
            freeBytes: DiskSpace.free(around: path))
    }

    /// The counts so far; final after ``stop()``. Thread: any.
    public var report: RecorderReport {
        let isOver = phase.withLock { $0 } == .stopping
        let state = progressState.update { $0 }
        var files = state.files
        if let current = state.current, !isOver || state.failure != nil {
            files.append(
                RecorderReport.File(
                    path: current.path, frames: current.written(.video),
                    duration: current.duration.duration, bytes: current.byteCount,
                    failure: state.failure))
        }
        return RecorderReport(
            files: files, video: track(.video, state, isOver), audio: track(.audio, state, isOver),
            duration: files.map(\.duration).reduce(state.removedDuration, +),
            bytes: files.map(\.bytes).reduce(state.removedBytes, +),
            replay: state.replay, ended: isOver ? state.ended : nil, failure: state.failure)
    }

    private func track(
        _ kind: RecordingKind, _ state: RecordingProgress.State, _ isOver: Bool
    ) -> RecorderReport.Track? {
        guard let track = tracks[kind] else { return nil }
        let described = track.described
        let written = state.written[kind, default: 0] + (state.current?.written(kind) ?? 0)
        // Read before `offered`, so that no frame is counted as dropped and not as offered.
        var drops = track.drops
        var unitDrops = state.drops[kind, default: DropCounts()]
        unitDrops[.unwritten] += inbox.lost(kind)
        var result = RecorderReport.Track(
            codec: described.codec, encoder: described.element, converted: track.converted,
            offered: track.offered,
            written: written,
            dropped: drops, droppedUnits: unitDrops, repeated: 0, corrections: nil)
        switch kind {
        case .audio:
            result.repeated = sound?.inserted ?? 0
            result.corrections = sound?.counts ?? AudioContinuity.Counts()
        case .video:
            result.repeated = pictures?.repeated ?? 0
            drops = drops + unitDrops
            if isOver {
                // Frames that were inside of a file or an encoder when it failed.
                drops[.unwritten] += max(
                    0, result.offered + result.repeated - written - drops.total)
            }
            result.dropped = drops
            result.droppedUnits = DropCounts()
        }
        return result
    }
}

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
