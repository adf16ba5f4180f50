/// What an engine asks for, from GStreamer.
public struct GStreamerBackend: MediaBackend {
    public init() {}

    /// The clock that every pipeline of the process is set to.
    public func clockTime() -> MediaTime { MediaTime(SharedClock.now) }

    /// The camera, else the screen, else a test picture.
    ///
    /// - Throws: ``PipelineError``.
    public func makeDefaultSource() throws -> sending any VideoSource {
        try PipelineVideoSource(DefaultCapture.find().text)
    }

    /// `videoconvert`, `videoflip` and `videoscale`, on the caller's thread.
    public func makeConverter() -> any VideoConverter { FrameConverter() }

    /// The microphone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` where there is no sound card.
    public func makeDefaultAudioSource() throws -> sending any AudioSource {
        try PipelineAudioSource(DefaultAudio.microphone())
    }

    /// `audioconvert` and `audioresample`, on the caller's thread.
    public func makeAudioConverter() -> any AudioConverter { SoundConverter() }

    /// A decoder that is installed.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement``, which names the Debian
    ///   package, where there is none.
    public func makeDecoder(
        _ codec: EncodedVideoFrame.Codec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder {
        try PipelineDecoder(codec, to: consumer)
    }
}
