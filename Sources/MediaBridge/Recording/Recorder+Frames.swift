extension Recorder {
    /// Records a video frame. Blocks while the encoder is slow, unless the oldest frame is evicted.
    /// Thread: any.
    @discardableResult
    public func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let pictures else { return .notEnabled }
        return pictures.consume(frame) { sound?.reach($0) }
    }

    /// Records an audio frame. Blocks while the encoder is slow, unless the oldest frame is
    /// evicted. Gaps of up to 10 s are filled with silence, overlaps are cut off. Thread: any.
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        guard let sound else { return .notEnabled }
        return sound.consume(frame) { pictures?.reach($0) }
    }

    /// Records a unit of encoded media unchanged. Blocks while the disk is slow, unless units of a
    /// live stream are dropped. Thread: any.
    func consume(_ unit: MediaSample, of kind: RecordingKind) -> FrameDisposition {
        guard let track = tracks[kind] else { return .notEnabled }
        return track.record(unit) { placed in
            switch kind {
            case .video: sound?.reach(placed)
            case .audio: pictures?.reach(placed)
            }
        }
    }

    /// Drops the units of encoded pictures up to the next key unit, because they reference units
    /// that never came. Thread: any.
    func expectKeyUnit(of kind: RecordingKind) { tracks[kind]?.expectKeyUnit() }

    /// Records a video frame. Suspends, without blocking a thread, while the encoder is slow.
    ///
    /// - Throws: ``PipelineError``: the error that made the recording fail, or the reason why it
    ///   does not take this frame. Frames handed over during a pause, or before the start, are
    ///   ignored.
    public func write(_ frame: VideoFrame) async throws {
        guard let pictures else { return try check(.notEnabled, "\(frame)") }
        let disposition = try await pictures.write(frame) { sound?.reach($0) }
        try check(disposition, "\(frame)")
    }

    /// Records an audio frame as ``write(_:)-(VideoFrame)`` records a picture.
    public func write(_ frame: AudioFrame) async throws {
        let disposition = await writes.value { [self] in consume(frame) }
        try check(disposition, "\(frame)")
    }

    /// The consumer for a video source. When the source ends, the video stream of the recording
    /// ends, and with its last stream the recording. If the source fails, the files are completed.
    public var videoInput: any VideoFrameConsumer { RecordingVideoInput(self) }

    /// The consumer for an audio source; behaves as ``videoInput``.
    public var audioInput: any AudioFrameConsumer { RecordingAudioInput(self) }

    func check(_ disposition: FrameDisposition, _ frame: @autoclosure () -> String) throws {
        guard case .dropped(let cause) = disposition else { return }
        switch cause {
        case _ where cause.recording == .ignored:
            if let failure = progressState.update({ $0.failure }) { throw failure }
        case .notEnabled:
            throw PipelineError(
                .invalidState, message: "the recording has no stream for this frame: \(frame())",
                advice: "set Configuration.video or Configuration.audio")
        default:
            throw progressState.update { $0.failure }
                ?? PipelineError(
                    cause == .noTime || cause == .backwards ? .noTime : .streamFailed,
                    message: "the recording dropped a frame (\(cause)): \(frame())")
        }
    }
}

/// Called on an engine's control thread. The program starts and stops the recorder.
extension Recorder: VideoSink, AudioSink {
    /// Returns the kind of buffer that the recorder takes: pixel buffers.
    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Returns the codecs that the container takes unchanged; none if ``Configuration/video`` names
    /// a codec, so that pictures are encoded with it.
    public func codecs() -> Set<VideoCodec> {
        guard let encoding = configuration.video, encoding.codec == nil else { return [] }
        return CopyRecipe.pictureCodecs(in: writer.container)
    }

    /// Records a unit as ``consume(_:)-(EncodedVideoFrame)`` does, and throws if it is not taken.
    public func render(_ unit: EncodedVideoFrame) throws {
        try check(consume(unit), "encoded \(unit.codec) frame")
    }

    /// Records a frame as ``consume(_:)-(VideoFrame)`` does, and throws if it is not
    /// taken. Before ``start()`` and after ``stop()`` frames are ignored.
    public func render(_ frame: VideoFrame) throws { try check(consume(frame), "\(frame)") }

    /// Records an audio frame as ``consume(_:)-(AudioFrame)`` does, and throws if it is not taken.
    public func render(_ frame: AudioFrame) throws { try check(consume(frame), "\(frame)") }

    /// Does nothing: the program initialises the recorder.
    public func shouldInitialize() throws -> Bool { true }
    /// Does nothing: the program starts the recorder.
    public func shouldStart() throws {}
    /// Does nothing: the program stops the recorder.
    public func shouldStop() throws {}
    /// Does nothing: the program releases the recorder.
    public func shouldDispose() throws {}
}
