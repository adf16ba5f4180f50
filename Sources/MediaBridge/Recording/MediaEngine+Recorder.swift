extension MediaEngine {
    /// A recorder in an engine.
    public struct RecordingID: Hashable, Sendable {
        fileprivate let pictures: RendererID?
        fileprivate let sound: AudioSinkID?
    }

    /// Gives a recorder the pictures and the sound of a stream, as far as it takes them: the engine's own,
    /// or a user's.
    ///
    /// ```swift
    /// let recorder = try Recorder("call.mkv", configuration: configuration)
    /// let recording = try await engine.addRecorder(recorder)
    /// try recorder.start()
    /// ```
    ///
    /// What is recorded is neither mirrored nor scaled. The engine neither starts nor stops the recorder:
    /// preview, channel and source may come and go meanwhile, and a source that is swapped for one of
    /// another size begins a new file.
    ///
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

    /// Gives a recorder nothing more: what is under way is recorded. Stop it afterwards.
    ///
    /// - Throws: ``EngineError`` where it was removed before.
    public func removeRecorder(_ id: RecordingID) async throws(EngineError) {
        if let sound = id.sound { try await removeAudioSink(sound) }
        if let pictures = id.pictures { try await removeVideoRenderer(pictures) }
    }
}
