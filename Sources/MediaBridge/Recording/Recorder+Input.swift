extension Recorder {
    /// Records a video frame. Blocks while the encoder is slow, unless the oldest frame is evicted.
    /// Thread: any.
    @discardableResult
    package func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let pictures else { return .dropped(.notEnabled) }
        return pictures.consume(frame) { reach($0, with: .video) }
    }

    /// Records an audio frame in the first audio track. Blocks while the encoder is slow, unless the oldest frame is
    /// evicted. Gaps of up to 10 s are filled with silence, overlaps are cut off. Thread: any.
    @discardableResult
    package func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        consume(frame, of: .audio)
    }

    func consume(_ frame: consuming AudioFrame, of stream: RecordedStream) -> FrameDisposition {
        guard let sound = sounds[stream] else { return .dropped(.notEnabled) }
        return sound.consume(frame) { reach($0, with: stream) }
    }

    /// Replaces what the other live streams lack when a stream has reached a time.
    private func reach(_ time: MediaTime, with stream: RecordedStream) {
        if stream != .video { pictures?.reach(time) }
        for (other, sound) in sounds where other != stream { sound.reach(time) }
    }

    /// Records an encoded frame unchanged. Blocks while the disk is slow, unless frames of a
    /// live stream are dropped. Thread: any.
    func consume(_ unit: MediaSample, of stream: RecordedStream) -> FrameDisposition {
        guard let track = tracks[stream] else { return .dropped(.notEnabled) }
        return track.record(unit) { reach($0, with: stream) }
    }

    /// Drops the encoded video frames up to the next key frame, because they reference frames
    /// that never came. Thread: any.
    func expectKeyUnit(of stream: RecordedStream) { tracks[stream]?.expectKeyUnit() }

    /// Records a video frame. Suspends, without blocking a thread, while the encoder is slow.
    ///
    /// - Throws: ``PipelineError``: the error that made the recording fail, or the reason why it
    ///   does not take this frame; ``PipelineError/Code/invalidState`` before the first ``start()``, if
    ///   nothing is kept for a pre-roll or a replay. Frames handed over during a pause, or after
    ///   ``rearm()``, are ignored.
    public func write(_ frame: VideoFrame) async throws(PipelineError) {
        try await tracks[.video]?.untilRoom()
        try check(written: consume(frame), .video, "\(frame)")
    }

    /// Records an audio frame in the first audio track, as ``write(_:)-(VideoFrame)`` records a picture.
    public func write(_ frame: AudioFrame) async throws(PipelineError) {
        let disposition = await writes.value { [self] in consume(frame) }
        try check(written: disposition, .audio, "\(frame)")
    }

    /// The consumer for a video source. When the source ends, the video stream of the recording
    /// ends, and with its last stream the recording. If the source fails, the files are completed.
    public var videoInput: any VideoFrameConsumer { RecordingInput(self, .video) }

    /// The consumer for an audio source; behaves as ``videoInput``. The first of ``audioInputs``.
    public var audioInput: any AudioFrameConsumer { RecordingInput(self, .audio) }

    /// The consumers for the audio sources, one for each of ``Configuration/audioTracks``; each behaves as
    /// ``videoInput``.
    public var audioInputs: [any AudioFrameConsumer] {
        course.streams.filter { $0.kind == .audio }.map { RecordingInput(self, $0) }
    }

    /// Does the same as ``check(_:_:)``, and refuses every frame before the first start.
    private func check(
        written disposition: FrameDisposition, _ stream: RecordedStream,
        _ frame: @autoclosure () -> String
    ) throws(PipelineError) {
        guard disposition == .dropped(.notStarted), !wasStarted.load(ordering: .relaxed) else {
            return try check(disposition, frame())
        }
        tracks[stream]?.countUnstarted()
        throw PipelineError(
            .invalidState, message: "this recorder was not started, and drops every frame",
            advice: "call start() before write(_:)")
    }

    private func check(_ disposition: FrameDisposition, _ frame: @autoclosure () -> String)
        throws(PipelineError)
    {
        guard case .dropped(let cause) = disposition else { return }
        switch cause {
        case _ where cause.recording == .ignored:
            if let failure = progressState.failure { throw failure }
        case .notEnabled:
            throw PipelineError(
                .invalidState, message: "the recording has no stream for this frame: \(frame())",
                advice: "set Configuration.video or Configuration.audio")
        default:
            throw progressState.failure ?? tracks.values.lazy.compactMap(\.failure).first
                ?? PipelineError(
                    cause == .noTime || cause == .backwards ? .noTime : .streamFailed,
                    message: "the recording dropped a frame (\(cause)): \(frame())")
        }
    }
}

// MARK: - Encoded media

extension Recorder {
    /// Records an encoded video frame unchanged, without decoding it. Blocks while the disk is
    /// slow, unless frames of a live stream are dropped. Thread: any.
    ///
    /// Files begin with a key frame: frames before it are dropped as ``DropCause/early``. A codec that
    /// the container does not take ends the recording with an error.
    ///
    /// - Returns: Dropped as ``DropCause/badFormat`` for a frame that is empty or larger than 8 MB.
    @discardableResult
    package func consume(_ frame: EncodedVideoFrame) -> FrameDisposition {
        note(frame.rotation)
        return take(try? frame.sample(), of: .video)
    }

    /// Records an encoded video frame unchanged. Suspends, without blocking a thread, while the
    /// disk is slow.
    ///
    /// - Throws: ``PipelineError``: the error that made the recording fail, or the reason why it
    ///   does not take this frame, as for ``write(_:)-(VideoFrame)``, or if it is empty or larger than
    ///   8 MB. Frames handed over during a pause, after ``rearm()``, and before the first key frame are
    ///   ignored.
    public func write(_ frame: EncodedVideoFrame) async throws(PipelineError) {
        note(frame.rotation)
        try await write(.video, "encoded \(frame.codec) frame") { () throws(PipelineError) in
            try frame.sample()
        }
    }

    /// Records an encoded audio frame unchanged in the first audio track: what ``audioInput`` does not take. Blocks while
    /// the disk is slow, unless frames of a live stream are dropped. Thread: any.
    ///
    /// - Returns: Dropped as ``DropCause/badFormat`` for a frame that is empty or larger than 8 MB.
    @discardableResult
    public func consume(_ frame: EncodedAudioFrame) -> FrameDisposition {
        take(try? frame.sample(), of: .audio)
    }

    /// Records an encoded audio frame unchanged. Behaves as ``write(_:)-(EncodedVideoFrame)``.
    public func write(_ frame: EncodedAudioFrame) async throws(PipelineError) {
        try await write(.audio, "encoded \(frame.codec) frame") { () throws(PipelineError) in
            try frame.sample()
        }
    }

    private func take(_ sample: MediaSample?, of stream: RecordedStream) -> FrameDisposition {
        if let sample { return consume(sample, of: stream) }
        return tracks[stream]?.refuseUnreadable() ?? .dropped(.notEnabled)
    }

    private func write(
        _ stream: RecordedStream, _ what: String, _ make: () throws(PipelineError) -> MediaSample
    ) async throws(PipelineError) {
        guard let track = tracks[stream] else { return try check(.dropped(.notEnabled), what) }
        let sample: MediaSample
        do { sample = try make() } catch {
            _ = track.refuseUnreadable()
            throw error
        }
        try await track.untilRoom()
        try check(written: consume(sample, of: stream), stream, what)
    }
}

// MARK: - Tags

extension Recorder {
    /// Writes the tags of a stream (title, artist, cover …) into the current file and all later files.
    func note(_ tags: Tags, of stream: RecordedStream) {
        // Drops tags of the source's encoding. Pictures that are encoded here are upright, so only files of
        // copied pictures use the orientation.
        guard tracks[stream] != nil, let kept = tags.removing(Self.tagsOfEncoding) else { return }
        inbox.put(.tags(stream, kept))
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

// MARK: - Sources

/// Passes one stream of a source to a recorder.
private final class RecordingInput: VideoFrameConsumer, AudioFrameConsumer {
    private let recorder: Recorder
    private let stream: RecordedStream

    init(_ recorder: Recorder, _ stream: RecordedStream) {
        self.recorder = recorder
        self.stream = stream
    }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition { recorder.consume(frame) }
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { recorder.consume(unit) }
    func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        recorder.consume(frame, of: stream)
    }
    func sourceDidEnd() { recorder.end(stream) }
    func sourceDidFail(_ error: any Error) { recorder.fail(error) }
}

// MARK: - Engines

/// Called on an engine's control thread. The program starts and stops the recorder.
extension Recorder: VideoSink, AudioSink {
    /// Returns the kind of buffer that the recorder takes: pixel buffers.
    @_documentation(visibility: internal)
    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Returns the codecs that the container takes unchanged; none if ``Configuration/video`` names
    /// a codec, so that pictures are encoded with it.
    @_documentation(visibility: internal)
    public func codecs() -> Set<VideoCodec> {
        guard let encoding = configuration.video, encoding.codec == nil else { return [] }
        return Set(
            VideoCodec.table.filter { $0.copies(into: writer.container) }.map(\.codec))
    }

    /// Records an encoded frame as `consume(_:)` does, and throws if it is not taken.
    @_documentation(visibility: internal)
    public func render(_ frame: EncodedVideoFrame) throws {
        try check(consume(frame), "encoded \(frame.codec) frame")
    }

    /// Records a frame as `consume(_:)` does, and throws if it is not
    /// taken. Before ``start()`` and after ``stop()`` frames are ignored.
    @_documentation(visibility: internal)
    public func render(_ frame: VideoFrame) throws { try check(consume(frame), "\(frame)") }

    /// Records an audio frame as `consume(_:)` does, and throws if it is not taken.
    @_documentation(visibility: internal)
    public func render(_ frame: AudioFrame) throws { try check(consume(frame), "\(frame)") }

    /// Does nothing: the program initialises the recorder.
    @_documentation(visibility: internal)
    public func shouldInitialize() throws -> Bool { true }
    /// Does nothing: the program starts the recorder.
    @_documentation(visibility: internal)
    public func shouldStart() throws {}
    /// Does nothing: the program stops the recorder.
    @_documentation(visibility: internal)
    public func shouldStop() throws {}
    /// Does nothing: the program releases the recorder.
    @_documentation(visibility: internal)
    public func shouldDispose() throws {}
}

extension MediaEngine {
    /// Adds a recorder that receives the video and the audio of a stream, as far as its
    /// configuration includes them. The stream is the engine's own or a remote user's.
    ///
    /// ```swift
    /// let recorder = try Recorder("call.mkv")
    /// try await engine.addRecorder(recorder)
    /// try recorder.start()
    /// ```
    ///
    /// The recorded video is not mirrored and not scaled. The engine does not start or stop the
    /// recorder: preview, channel and source may start and stop meanwhile, and replacing the source
    /// by one of another size begins a new file.
    ///
    /// - Parameters:
    ///   - recorder: The recorder; the caller starts and stops it.
    ///   - stream: The stream to record. Default: the engine's own.
    /// - Throws: ``EngineError``; ``EngineError/Code/invalidArgument`` if this engine has the recorder already.
    public func addRecorder(
        _ recorder: Recorder, to stream: VideoStreamID = .local()
    ) async throws(EngineError) {
        var pictures: SinkID?
        if recorder.takes(.video) {
            var options = SinkOptions()
            options.mirror = .disabled
            options.depth = 16
            pictures = try await addVideoSink(recorder, to: stream, options: options)
        }
        guard recorder.takes(.audio) else { return }
        let sound: AudioStreamID =
            switch stream {
            case .local: .local
            case .remote(let user, _): .remote(user)
            }
        do throws(EngineError) {
            try await addAudioSink(recorder, to: sound)
        } catch {
            if let pictures { try? await removeVideoSink(pictures) }
            throw error
        }
    }

    /// Stops the delivery to a recorder. Frames already delivered are still recorded. Stop the
    /// recorder afterwards.
    ///
    /// - Throws: ``EngineError/Code/invalidArgument`` if this engine does not have the recorder.
    public func removeRecorder(_ recorder: Recorder) async throws(EngineError) {
        try await removeSink(recorder)
    }
}
