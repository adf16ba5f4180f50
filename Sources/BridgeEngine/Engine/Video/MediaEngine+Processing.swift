public import MediaCore

extension MediaEngine {
    /// Replaces the processors of one point; they work one after the other, on a thread of their own.
    ///
    /// They are the engine's from here on. A processor that returns nothing drops the frame, which is counted. One that throws drops that
    /// frame too, and is told; three times in a row, or hanging in one frame for longer than
    /// ``Configuration/stallLimit``, it is passed over until processors are set again: what is recorded
    /// and sent goes on.
    public func setVideoProcessors(
        _ processors: sending [any VideoProcessor], at point: ProcessingPoint,
        track: TrackID = .main
    ) async throws(EngineError) {
        try await enter()
        defer { leave() }
        guard let slot = slots[track] else {
            throw EngineError(.invalidArgument, message: "there is no \(track)")
        }
        slot.track.processing.set(processors, at: point)
    }
}
