/// Implements the services that an engine needs with GStreamer.
package struct GStreamerBackend: MediaBackend {
    /// Creates a backend. It has no settings.
    package init() {}

    /// Returns the time of the clock that all pipelines of the process use.
    package func clockTime() -> MediaTime { MediaTime(SharedClock.now) }

    /// Creates a source for the camera, else for the screen, else for a test picture.
    ///
    /// - Throws: ``PipelineError`` if GStreamer or the source cannot be set up.
    package func makeDefaultSource() throws -> sending any VideoSource {
        try PipelineVideoSource(DefaultCapture.find().text)
    }

    /// Creates a converter that uses `videoconvert`, `videoflip` and `videoscale` on the caller's
    /// thread.
    package func makeConverter() -> any VideoConverter { FrameConverter() }

    /// Creates a source for the microphone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if there is no sound card.
    package func makeDefaultAudioSource() throws -> sending any AudioSource {
        try PipelineAudioSource(DefaultAudio.microphone())
    }

    /// Creates a converter that uses `audioconvert` and `audioresample` on the caller's thread.
    package func makeAudioConverter() -> any AudioConverter { SoundConverter() }

    /// Creates a decoder from the elements installed.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if no decoder is
    ///   installed; it names the Debian package.
    package func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder {
        try PipelineDecoder(codec, to: consumer)
    }

    /// H.264 and VP8, where an encoder is installed.
    package var encodableCodecs: [VideoCodec] { StreamEncoder.installedCodecs }

    /// Creates an encoder from the elements installed: `x264enc` or `openh264enc` (constrained baseline),
    /// `vp8enc`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if no encoder is
    ///   installed; it names the Debian package.
    package func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder {
        try PipelineEncoder(settings, to: consumer)
    }

    /// Creates a decoder of audio from the elements installed.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if no decoder is
    ///   installed; it names the Debian package.
    package func makeAudioDecoder(_ codec: AudioCodec) throws -> any AudioDecoder {
        try ChainAudioDecoder(codec)
    }

    /// Opus and G.711, where an encoder is installed.
    package var encodableAudioCodecs: [AudioCodec] {
        AudioCodecElements.encodableCodecs
    }

    /// Creates an encoder of audio from the elements installed: `opusenc`, `alawenc`, `mulawenc`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if no encoder is
    ///   installed; it names the Debian package.
    package func makeAudioEncoder(_ settings: AudioEncoderSettings) throws -> any AudioEncoder {
        try ChainAudioEncoder(settings)
    }
}
