extension Recorder {
    /// Records a unit of encoded video unchanged, without decoding it. Blocks while the disk is
    /// slow, unless units of a live stream are dropped. Thread: any.
    ///
    /// Files begin with a key unit: units before it are dropped as ``DropCause/early``. A codec that
    /// the container does not take ends the recording with an error.
    ///
    /// - Returns: ``FrameDisposition/badFormat`` for a unit that is empty or larger than 8 MB.
    @discardableResult
    public func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
        note(unit.rotation)
        return take(try? unit.sample(), of: .video)
    }

    /// Records a unit of encoded video unchanged. Suspends, without blocking a thread, while the
    /// disk is slow.
    ///
    /// - Throws: ``PipelineError``: the error that made the recording fail, or the reason why it
    ///   does not take this unit; ``FrameError`` for a unit that is empty or larger than 8 MB. Units
    ///   handed over during a pause, before the start, and before the first key unit are ignored.
    public func write(_ unit: EncodedVideoFrame) async throws {
        note(unit.rotation)
        try await write(.video, "encoded \(unit.codec) frame") { try unit.sample() }
    }

    /// Records a unit of encoded audio unchanged. Behaves as ``consume(_:)-(EncodedVideoFrame)``.
    @discardableResult
    public func consume(_ unit: EncodedAudioFrame) -> FrameDisposition {
        take(try? unit.sample(), of: .audio)
    }

    /// Records a unit of encoded audio unchanged. Behaves as ``write(_:)-(EncodedVideoFrame)``.
    public func write(_ unit: EncodedAudioFrame) async throws {
        try await write(.audio, "encoded \(unit.codec) frame") { try unit.sample() }
    }

    private func take(_ sample: MediaSample?, of kind: RecordingKind) -> FrameDisposition {
        if let sample { return consume(sample, of: kind) }
        return tracks[kind]?.refuseUnreadable() ?? .notEnabled
    }

    private func write(
        _ kind: RecordingKind, _ what: String, _ make: () throws -> MediaSample
    ) async throws {
        guard let track = tracks[kind] else { return try check(.notEnabled, what) }
        let sample: MediaSample
        do { sample = try make() } catch {
            _ = track.refuseUnreadable()
            throw error
        }
        try await track.untilRoom()
        try check(consume(sample, of: kind), what)
    }
}
