internal import MediaBasics

extension Recorder {
    /// Writes the last seconds into a separate file, while everything else continues. May be called
    /// any number of times, before, during and after a recording, and after the stop.
    ///
    /// The file contains what the encoders had delivered by the time of the call. It begins with a
    /// key frame, so it may be longer than requested. It is shorter if less was kept, or if the
    /// memory was full (``RecorderReport/replayDuration`` reports how much is kept). Times of a pause are
    /// not in it. A change of the pictures' size or format within it begins another file, with a
    /// number in its name.
    ///
    /// - Parameters:
    ///   - path: Has the same extension as the recorder's. ``Configuration/whenExists`` decides what
    ///     happens if the file exists.
    ///   - length: The duration to write; `nil`, the default, for all that ``Configuration/replay``
    ///     keeps.
    /// - Returns: The files, complete and read back; usually one.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/invalidState`` without
    ///   ``Configuration/replay``; ``PipelineError/Code/noFrames`` if there is nothing yet; an error
    ///   of the disk.
    @discardableResult
    public func saveReplay(
        _ path: String, last length: Duration? = nil
    ) async throws(PipelineError) -> [RecordedFile] {
        guard let kept = configuration.replay else {
            throw PipelineError(
                .invalidState, message: "this recorder keeps no media for replays",
                advice: "set Configuration.replay to the time to keep")
        }
        guard try RecordingContainer(path: path) == writer.container else {
            throw PipelineError(
                .badValue,
                message: "a replay has the container of its recorder, but \"\(path)\" selects "
                    + "another one than \"\(self.path)\"",
                advice: "use the extension .\(writer.container.rawValue)")
        }
        let stallTimeout = configuration.stallTimeout
        let last = MediaTime(length ?? kept)
        guard let content = await course.replay(last: last, within: stallTimeout) else {
            throw .stuck(self.path, stallTimeout)
        }
        guard !content.units.isEmpty else {
            throw PipelineError(
                .noFrames, message: "there is no replay yet: nothing has been encoded",
                advice: "write frames first")
        }
        return try await write(content, to: path)
    }

    private func write(
        _ content: RecordingCourse.Replay, to path: String
    ) async throws(PipelineError) -> [RecordedFile] {
        try DiskSpace.check(path)
        let bytes = content.units.reduce(0) { $0 + $1.unit.byteCount }
        if configuration.reserve > 0, let free = DiskSpace.free(in: DiskSpace.directory(of: path)),
            free < bytes + configuration.reserve
        {
            throw .tooFull(free, path)
        }
        var limits = writer.limits
        (limits.segments, limits.preRoll, limits.replay, limits.events) = (nil, nil, nil, nil)
        let replayWriter = FileWriter(
            names: RecordingNames(path, isNumbered: false), container: writer.container,
            limits: limits, timeline: timeline, queue: SerialQueue(label: "mediabridge.replay"),
            clock: clock, progress: RecordingProgress(), notify: { _ in })
        let replay = RecordingCourse(course.streams, replayWriter)
        replayWriter.queue.async { replay.write(content) }
        return try await replayWriter.files()
    }
}

// MARK: - Replays of the course

extension RecordingCourse {
    /// What is kept for replays.
    struct Replay: Sendable {
        var units: [Interleaver.Released]
        var tags: [RecordedStream: Tags]
    }

    /// Returns the last units that are kept; `nil` if the writer's queue does not answer in time. Thread: any.
    func replay(last length: MediaTime, within limit: Duration) async -> Replay? {
        await writer.queue.outcome(within: limit, on: .system) { [self] in
            Replay(units: lastUnits(length), tags: writer.tags)
        }
    }

    /// Writes units as a recording that has ended. Call it before any other. Thread: the writer's queue.
    func write(_ content: Replay) {
        let units = content.units.sorted { $0.unit.time < $1.unit.time }
        var items: [RecordingInbox.Item] = [.start(at: nil)]
        items += content.tags.map { .tags($0, $1) }
        var ends: [RecordingInbox.Item] = []
        for stream in streams {
            var generations: [Int] = []
            for unit in units
            where unit.unit.stream == stream && !generations.contains(unit.generation) {
                generations.append(unit.generation)
            }
            items += generations.map { .began(stream, generation: $0) }
            ends += generations.map { .ended(stream, generation: $0, nil) } + [.trackEnded(stream)]
        }
        items += units.map { .unit($0.unit, generation: $0.generation) }
        handle(items + ends)
    }
}
