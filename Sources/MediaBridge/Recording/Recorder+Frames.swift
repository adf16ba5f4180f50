extension Recorder {
    /// Hands a picture over; blocks while the encoder is slow, unless the oldest gives way.
    @discardableResult
    public func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let pictures else { return .notEnabled }
        return pictures.consume(frame) { sound?.reach($0) }
    }

    /// Hands sound over; blocks while the encoder is slow, unless the oldest gives way. A gap of up to 10 s
    /// is filled with silence, an overlap cut off.
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        guard let sound else { return .notEnabled }
        return sound.consume(frame) { pictures?.reach($0) }
    }

    /// Hands a picture over; suspends, and blocks no thread, while the encoder is slow.
    ///
    /// - Throws: ``PipelineError``: what made the recording fail, or why it does not take this frame. A
    ///   frame that comes while the recording is paused, or before it starts, is let pass.
    public func write(_ frame: VideoFrame) async throws {
        guard let pictures else { return try check(.notEnabled, "\(frame)") }
        let disposition = try await pictures.write(frame) { sound?.reach($0) }
        try check(disposition, "\(frame)")
    }

    /// What a source of pictures delivers to. Told of the source's end, that stream of the recording ends,
    /// and with the last the recording; told of its failure, the files are completed.
    public var videoInput: any VideoFrameConsumer { RecordingVideoInput(self) }

    /// What a source of sound delivers to; as ``videoInput``.
    public var audioInput: any AudioFrameConsumer { RecordingAudioInput(self) }

    private func check(_ disposition: FrameDisposition, _ frame: @autoclosure () -> String) throws {
        guard case .dropped(let cause) = disposition else { return }
        switch cause {
        case .notStarted, .closed, .paused, .early:
            if let failure = progressState.update({ $0.failure }) { throw failure }
        case .notEnabled:
            throw PipelineError(
                .invalidState, message: "the recording takes no such stream: \(frame())",
                advice: "set Configuration.video or Configuration.audio")
        default:
            throw progressState.update { $0.failure }
                ?? PipelineError(
                    cause == .noTime || cause == .backwards ? .noTime : .streamFailed,
                    message: "the recording refused \(frame()): \(cause)")
        }
    }
}

/// For an engine's control thread. Start and stop are the program's.
extension Recorder: VideoSink, AudioSink {
    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Hands a frame over as ``consume(_:)`` does, and throws where it is not taken. Before
    /// ``start()`` and after ``stop()`` frames are let pass.
    public func render(_ frame: VideoFrame) throws { try check(consume(frame), "\(frame)") }

    public func render(_ frame: AudioFrame) throws { try check(consume(frame), "\(frame)") }

    public func shouldInitialize() throws -> Bool { true }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
    public func shouldDispose() throws {}
}
