public import MediaCore

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
