/// What pictures are encoded as.
public enum VideoCodec: String, Sendable, CaseIterable {
    case h264, vp8, vp9
    /// Motion JPEG: every picture by itself.
    case mjpeg
    /// Lossless, every picture by itself.
    case ffv1
}

/// What sound is encoded as.
public enum AudioCodec: String, Sendable, CaseIterable {
    case opus, aac
    /// Lossless.
    case flac
}

/// How a ``Recorder`` encodes pictures.
public struct VideoEncoding: Hashable, Sendable {
    /// `nil`: the first of ``RecordingContainer/videoCodecs`` that has an encoder installed.
    public var codec: VideoCodec?
    /// Bits in a second; `nil`: whatever a constant quality takes, or, where an encoder knows none, a
    /// tenth of a bit for each pixel.
    public var bitrate: Int?
    /// The longest time between two pictures that need none before them. Segments begin with one, and
    /// so does what a pre-roll keeps. Default 1 s.
    public var keyFrameInterval = Duration.seconds(1)

    public init(_ codec: VideoCodec? = nil, bitrate: Int? = nil) {
        self.codec = codec
        self.bitrate = bitrate
    }
}

/// How a ``Recorder`` encodes sound.
public struct AudioEncoding: Hashable, Sendable {
    /// `nil`: the first of ``RecordingContainer/audioCodecs`` that has an encoder installed.
    public var codec: AudioCodec?
    /// Bits in a second, of all channels; `nil`: 64,000 for each channel. Without effect on FLAC.
    public var bitrate: Int?

    public init(_ codec: AudioCodec? = nil, bitrate: Int? = nil) {
        self.codec = codec
        self.bitrate = bitrate
    }
}
