extension MediaEngine {
    /// Identifies a recorder that was added to an engine.
    public struct RecordingID: Hashable, Sendable {
        fileprivate let pictures: RendererID?
        fileprivate let sound: AudioSinkID?
    }

    /// Adds a recorder that receives the video and the audio of a stream, as far as its
    /// configuration includes them. The stream is the engine's own or a remote user's.
    ///
    /// ```swift
    /// let recorder = try Recorder("call.mkv", configuration: configuration)
    /// let recording = try await engine.addRecorder(recorder)
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
    /// - Returns: The identifier for ``removeRecorder(_:)``.
    /// - Throws: ``EngineError``.
    @discardableResult
    public func addRecorder(
        _ recorder: Recorder, to stream: StreamID = .local()
    ) async throws(EngineError) -> RecordingID {
        var pictures: RendererID?
        if recorder.takes(.video) {
            var options = RendererOptions()
            options.mirror = .disabled
            options.depth = 16
            pictures = try await addVideoRenderer(recorder, to: stream, options: options)
        }
        guard recorder.takes(.audio) else { return RecordingID(pictures: pictures, sound: nil) }
        let sound: AudioStreamID =
            switch stream {
            case .local: .local
            case .remote(let user, _): .remote(user)
            }
        do throws(EngineError) {
            let id = try await addAudioSink(recorder, to: sound)
            return RecordingID(pictures: pictures, sound: id)
        } catch {
            if let pictures { try? await removeVideoRenderer(pictures) }
            throw error
        }
    }

    /// Stops the delivery to a recorder. Frames already delivered are still recorded. Stop the
    /// recorder afterwards.
    ///
    /// - Throws: ``EngineError`` if it was removed before.
    public func removeRecorder(_ id: RecordingID) async throws(EngineError) {
        if let sound = id.sound { try await removeAudioSink(sound) }
        if let pictures = id.pictures { try await removeVideoRenderer(pictures) }
    }
}

/// The consumer that passes a source's video to a recorder.
final class RecordingVideoInput: VideoFrameConsumer {
    private let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition { recorder.consume(frame) }
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { recorder.consume(unit) }
    func sourceDidEnd() { recorder.end(.video) }
    func sourceDidFail(_ error: any Error) { recorder.fail(error) }
}

/// The consumer that passes a source's audio to a recorder.
final class RecordingAudioInput: AudioFrameConsumer {
    private let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    func consume(_ frame: consuming AudioFrame) -> FrameDisposition { recorder.consume(frame) }
    func sourceDidEnd() { recorder.end(.audio) }
    func sourceDidFail(_ error: any Error) { recorder.fail(error) }
}
