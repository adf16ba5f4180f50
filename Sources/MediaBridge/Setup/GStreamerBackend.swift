internal import Glibc

extension MediaEngine {
    /// Creates an engine that captures, converts and decodes with GStreamer. It has no channel: other modules create
    /// engines with one, for example MediaBridgeJanus.
    ///
    /// - Parameter configuration: The engine's settings; the defaults suit a preview.
    public init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, backend: GStreamerBackend(), transport: nil)
    }
}

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
        try PipelineAudioSource.microphone()
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
    package var encodableCodecs: [VideoCodec] { VideoCodec.installedForLive }

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
    package var encodableAudioCodecs: [AudioCodec] { AudioCodec.installedForLive }

    /// Creates an encoder of audio from the elements installed: `opusenc`, `alawenc`, `mulawenc`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/missingElement`` if no encoder is
    ///   installed; it names the Debian package.
    package func makeAudioEncoder(_ settings: AudioEncoderSettings) throws -> any AudioEncoder {
        try ChainAudioEncoder(settings)
    }
}

// MARK: Default devices

/// The source to capture if none is named: the camera, else the screen, else a test picture.
package struct DefaultCapture: Hashable, Sendable {
    /// The kind of source (`camera`, `screen` or `test picture`) and its name.
    package let about: String
    /// The source as a gst-launch string.
    package let text: String

    /// Finds the source. Queries the machine's devices, which may take a second; call it in the
    /// control zone.
    ///
    /// - Throws: ``PipelineError`` if GStreamer cannot be initialised.
    package static func find() throws(PipelineError) -> DefaultCapture {
        let cameras = try Device.list(klass: "Video/Source").filter { $0.path != nil }
        if let camera = cameras.first, let path = camera.path {
            return DefaultCapture(
                about: "camera \(camera.name) (\(path))",
                text: "v4l2src device=\(path) ! decodebin ! videoconvert")
        }
        if let display, try ElementFactory.find("ximagesrc") != nil {
            return DefaultCapture(
                about: "screen \(display)",
                text: "ximagesrc use-damage=false ! videoconvert ! videorate "
                    + "! video/x-raw,format=I420,framerate=30/1")
        }
        return DefaultCapture(
            about: "test pattern with a running clock",
            text: "videotestsrc is-live=true pattern=smpte "
                + "! video/x-raw,width=1280,height=720,framerate=30/1 "
                + "! timeoverlay halignment=center valignment=center font-desc=\"Sans 48\" "
                + "! videoconvert ! video/x-raw,format=I420")
    }

    /// The value of `DISPLAY`, the name of the X display; `nil` if it is not set.
    package static var display: String? {
        guard let value = getenv("DISPLAY"), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

extension PipelineAudioSource {
    /// Creates a source for the machine's default microphone. Queries the machine's devices, which may take a second;
    /// call it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if there is no sound card.
    public static func microphone() throws(PipelineError) -> sending PipelineAudioSource {
        try PipelineAudioSource(DefaultAudio.microphone())
    }
}

extension PipelineAudioSink {
    /// Creates a sink for the machine's default speakers. Queries the machine's devices, which may take a second; call
    /// it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if there is no sound card.
    public static func speakers() throws(PipelineError) -> sending PipelineAudioSink {
        try DefaultAudio.require(
            "Audio/Sink", "loudspeaker", "write to a file, or pull the audio in your program")
        return try PipelineAudioSink("audioconvert ! audioresample ! autoaudiosink")
    }
}

/// The machine's default microphone and speakers.
package enum DefaultAudio {
    /// Returns a string for the microphone. Queries the machine's devices, which may take a second;
    /// call it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if there is no sound card.
    package static func microphone() throws(PipelineError) -> String {
        try require("Audio/Source", "microphone", "audiotestsrc produces a tone instead")
        return "autoaudiosrc ! audioconvert ! audioresample"
    }

    /// Throws if no such device exists: GStreamer's `auto…` elements would silently use a fake
    /// device.
    fileprivate static func require(
        _ klass: String, _ name: String, _ instead: String
    ) throws(PipelineError) {
        guard try Device.list(klass: klass).isEmpty else { return }
        throw PipelineError(
            .notFound,
            message: "no \(name): this machine has no sound card, or access to it is denied",
            advice: "gst-device-monitor-1.0 \(klass) lists the devices; \(instead)")
    }
}
