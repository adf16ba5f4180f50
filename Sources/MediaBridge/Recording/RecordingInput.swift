/// What a source of pictures delivers to, where they are recorded.
final class RecordingVideoInput: VideoFrameConsumer {
    private let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition { recorder.consume(frame) }
    func sourceDidEnd() { recorder.end(.video) }
    func sourceDidFail(_ error: any Error) { recorder.fail(error) }
}

/// What a source of sound delivers to, where it is recorded.
final class RecordingAudioInput: AudioFrameConsumer {
    private let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    func consume(_ frame: consuming AudioFrame) -> FrameDisposition { recorder.consume(frame) }
    func sourceDidEnd() { recorder.end(.audio) }
    func sourceDidFail(_ error: any Error) { recorder.fail(error) }
}
