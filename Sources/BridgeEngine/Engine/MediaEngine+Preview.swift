internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// Starts the local video sinks and, unless the channel holds it already, the source. A second
    /// call has no effect except a warning.
    ///
    /// - Throws: ``EngineError``, which names the source's call that returned false, threw or did
    ///   not return. Video sinks that cannot start are reported as events: the preview continues on
    ///   the others.
    public func startPreview() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard !holds.contains(.preview) else {
            hub.post(.warning("the preview is already running; nothing changed"))
            return
        }
        try await acquire(.preview)
    }

    /// Releases the preview's hold on the source; the channel's hold stays.
    public func stopPreview() async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard holds.contains(.preview) else {
            hub.post(.warning("no preview is running; nothing changed"))
            return
        }
        await release(.preview)
    }

    /// Whether the preview holds the source.
    public var isPreviewing: Bool { holds.contains(.preview) }
}

extension MediaEngine {
    /// Replaces the processors of one point. They are called one after the other, on a thread of
    /// their own, and belong to the engine from then on.
    ///
    /// If a processor returns `nil`, the frame is dropped and counted. If it throws, the frame is
    /// dropped too, and ``EngineEvent/processorFailed(_:_:_:)`` is posted. A processor that throws
    /// three times in a row, or hangs in one frame for longer than ``Configuration/stallTimeout``, is
    /// skipped until processors are set again, so that recording and sending continue.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if there is no such track.
    public func setVideoProcessors(
        _ processors: sending [any VideoProcessor], at point: ProcessingPoint,
        track: TrackID = .main
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let slot = slots[track] else {
            throw EngineError(.invalidArgument, message: "\(track) not found")
        }
        slot.track.processing.set(processors, at: point)
    }
}

// MARK: Snapshots

extension MediaEngine {
    /// Returns the next frame of a stream, unchanged.
    ///
    /// - Parameters:
    ///   - stream: The stream; by default the local main track.
    ///   - limit: The deadline for the frame; by default ``Configuration/firstFrameTimeout``.
    /// - Throws: ``EngineError/Code/noFrame`` if no frame arrives in time,
    ///   ``EngineError/Code/invalidArgument`` if there is no such track,
    ///   ``EngineError/Code/cancelled``, ``EngineError/Code/shutDown``.
    public func takeSnapshot(
        of stream: VideoStreamID = .local(), within limit: Duration? = nil
    ) async throws(EngineError) -> VideoFrame {
        guard !isShutDown else { throw EngineError.afterShutDown }
        if case .local(let track) = stream, slots[track] == nil {
            throw EngineError(.invalidArgument, message: "\(track) not found")
        }
        let limit = limit ?? configuration.firstFrameTimeout
        let once = Once<VideoFrame>()
        once.expire(after: limit, on: clock.timeline)
        let consumer = SnapshotTap(once)
        tap(consumer, on: stream)
        let shot = await once.value(isCancellable: true)
        untap(consumer, from: stream)
        guard let shot else {
            if Task.isCancelled { throw EngineError.cancelled("the snapshot") }
            throw EngineError(
                .noFrame, message: "no frame arrived within \(limit)",
                advice: "takeSnapshot(of:within:) while the stream is running")
        }
        return shot
    }

    private func tap(_ consumer: any VideoFrameConsumer, on stream: VideoStreamID) {
        switch stream {
        case .local(let track): slots[track]?.track.local.tap(consumer)
        case .remote(let user, let track): remote.tap(consumer, on: user, track)
        }
    }

    private func untap(_ consumer: any VideoFrameConsumer, from stream: VideoStreamID) {
        switch stream {
        case .local(let track): slots[track]?.track.local.untap(consumer)
        case .remote(let user, let track): remote.untap(consumer, from: user, track)
        }
    }
}

/// Takes one frame of a stream. Thread: any.
final class SnapshotTap: VideoFrameConsumer {
    private let once: Once<VideoFrame>

    init(_ once: Once<VideoFrame>) { self.once = once }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        once.resume(frame)
        return .accepted
    }
}
