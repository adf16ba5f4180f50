internal import Synchronization

extension Recorder {
    /// The events from now on. Each caller gets a separate sequence, which ends with
    /// ``RecorderEvent/finished(_:)``.
    public var events: EventSequence<RecorderEvent> { hub.subscribe() }

    /// Calls `body` for every event, on the thread that reports it. `body` must return at once.
    package func onEvent(_ body: @escaping @Sendable (RecorderEvent) -> Void) {
        hub.onEvent(body)
    }

    /// The bytes that are written per second, over the last two seconds; ``report`` has their total. Thread: any.
    public var bytesPerSecond: Double { watch.rate }

    /// Bytes free on the disk; `nil` if unknown. Queries the disk. Thread: any but a streaming thread.
    public var freeBytes: Int? { DiskSpace.free(in: writer.names.directory) }

    /// The counts so far; final after ``stop()``. Thread: any.
    public var report: RecorderReport {
        let isOver = phase.withLock { $0 } == .stopping
        let state = progressState.update { $0 }
        var files = state.files
        if let current = state.current, !isOver || state.failure != nil {
            files.append(current.report(state.failure))
        }
        return RecorderReport(
            files: files, tracks: course.streams.compactMap { track($0, state, isOver) },
            duration: files.map(\.duration).reduce(state.removedDuration, +),
            bytes: files.map(\.bytes).reduce(state.removedBytes, +),
            removedFiles: state.removedFiles, missingLogLines: state.missingLines,
            replayDuration: state.replay?.duration, replayBytes: state.replay?.bytes ?? 0,
            ended: isOver ? state.ended : nil, failure: state.failure)
    }

    private func track(
        _ stream: RecordedStream, _ state: RecordingProgress.State, _ isOver: Bool
    ) -> RecorderReport.Track? {
        guard let track = tracks[stream] else { return nil }
        let described = track.described
        let written = state.written[stream, default: 0] + (state.current?.written(stream) ?? 0)
        // Read before `offered`, so that no frame is counted as dropped and not as offered.
        var drops = track.drops
        var unitDrops = state.drops[stream, default: DropCounts()]
        unitDrops[.unwritten] += inbox.lost(stream)
        var result = RecorderReport.Track(
            stream: stream.name, codec: described.codec, encoder: described.element,
            converted: track.converted,
            offered: track.offered,
            written: written,
            dropped: drops, droppedEncodedFrames: unitDrops, repeated: 0, corrections: nil)
        switch stream.kind {
        case .audio:
            result.repeated = sounds[stream]?.inserted ?? 0
            result.corrections = sounds[stream]?.counts ?? AudioCorrectionCounts()
        case .video:
            result.repeated = pictures?.repeated ?? 0
            drops = drops + unitDrops
            if isOver {
                // Frames that were inside of a file or an encoder when it failed.
                drops[.unwritten] += max(
                    0, result.offered + result.repeated - written - drops.total)
            }
            result.dropped = drops
            result.droppedEncodedFrames = DropCounts()
        }
        return result
    }
}

// MARK: - Balance

extension RecorderReport.Track {
    /// The balance of the frames handed over and repeated. For audio, whose encoder makes frames of
    /// other lengths, `delivered` counts the buffers that were not dropped.
    public var balance: FrameBalance {
        let offered = offered + repeated
        return FrameBalance(
            offered: offered, delivered: corrections == nil ? written : offered - dropped.total,
            dropped: dropped)
    }

    /// The frames that were lost while they waited for the file, or still wait.
    var unwritten: Int { offered + repeated - written - losses.total + losses[.unwritten] }

    /// All that no file contains, by cause: frames, and encoded frames of audio.
    var losses: DropCounts { dropped + droppedEncodedFrames }
}

extension DropCause {
    enum Recording {
        /// Not asked for: ``Recorder/write(_:)-(VideoFrame)`` and `render` do not throw.
        case ignored
        /// They throw.
        case refused
        /// Taken, and lost afterwards.
        case lost
    }

    /// What a recorder does with a frame that it drops for this cause.
    var recording: Recording {
        switch self {
        case .notStarted, .closed, .paused, .early: .ignored
        case .evicted, .unwritten: .lost
        case .queueFull, .notEnabled, .wrongBufferType, .badStride, .badSize, .undecodable,
            .needsKeyFrame, .noTime, .badTime, .backwards, .late, .badFormat, .processor, .failed,
            .notConnected, .lost, .muted, .frameRate:
            .refused
        }
    }
}

extension Recorder: FrameBalanceReporting {
    /// Returns the counts for the engine that feeds this recorder. Frames for which
    /// ``render(_:)-(VideoFrame)`` or ``render(_:)-(AudioFrame)`` throws are not included.
    package func frameBalance(of kind: MediaKind) -> FrameBalance {
        let report = self.report
        guard let track = kind == .video ? report.video : report.audio else {
            return FrameBalance()
        }
        var taken = track.balance
        for cause in DropCause.allCases where cause.recording == .refused {
            taken.offered -= taken.dropped[cause]
            taken.dropped[cause] = 0
        }
        return taken
    }
}
