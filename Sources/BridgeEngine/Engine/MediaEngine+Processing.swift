public import MediaCore

extension MediaEngine {
    /// Replaces the processors of one point; they work one after the other, on a thread of their own.
    ///
    /// A processor that returns nothing drops the frame, which is counted. One that throws drops that
    /// frame too, and is told; three times in a row, or hanging in one frame for longer than
    /// ``Configuration/stallLimit``, it is passed over until processors are set again: what is recorded
    /// and sent goes on.
    public func setVideoProcessors(
        _ processors: [any VideoProcessor], at point: ProcessingPoint, track: TrackID = .main
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let slot = slots[track] else {
            throw EngineError(.invalidArgument, message: "there is no \(track)")
        }
        slot.track.setProcessors(processors, at: point)
    }

    /// The next frame of a stream, as it is.
    ///
    /// - Throws: ``EngineError/Code/noFrame`` where none comes within the limit.
    public func takeSnapshot(
        of stream: StreamID = .local(), within limit: Duration = .seconds(5)
    ) async throws(EngineError) -> VideoFrame {
        let video: VideoStream
        switch stream {
        case .local(let track):
            guard let slot = slots[track] else {
                throw EngineError(.invalidArgument, message: "there is no \(track)")
            }
            video = slot.track.local
        case .remote(let user, let track): video = remote.stream(of: user, track).video
        }
        var tap: Int?
        let shot = await withCheckedContinuation { continuation in
            tap = video.tap(SnapshotTap(Once(continuation), limit))
        }
        if let tap { video.untap(tap) }
        guard let shot else {
            throw EngineError(
                .noFrame, message: "no frame came within \(limit)",
                advice: "takeSnapshot(of:within:) while the stream runs")
        }
        return shot
    }
}
