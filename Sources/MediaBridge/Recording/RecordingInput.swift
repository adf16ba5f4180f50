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
