public import MediaCore

/// The form in which local tracks are sent to the channel.
public struct VideoEncoderConfiguration: Hashable, Sendable {
    /// The size to send, in pixels, with borders if the aspect ratio differs; `nil`, the default,
    /// for the source's size.
    public var size: VideoSize?
    /// How frames are mirrored. Default ``VideoMirrorMode/automatic``: not mirrored.
    public var mirror = VideoMirrorMode.automatic
    /// Whether frames are rotated upright before they are sent. Default false.
    public var isUpright = false
    /// The codec in which frames are sent. `nil`, the default: unencoded if the channel carries
    /// frames, as a ``LoopbackNetwork`` does; otherwise the first codec that the backend encodes
    /// and the channel carries. Units of a codec that the channel carries are always sent
    /// unchanged.
    public var codec: VideoCodec?
    /// The bit rate of encoded frames, in bits per second; `nil`, the default, for 0.1 bits per
    /// pixel. The network may limit it further.
    public var bitRate: Int?
    /// The maximum frame rate of encoded frames, in frames per second; `nil`, the default, for all
    /// frames.
    public var frameRate: Double?
    /// The maximum interval between two key frames. Default 10 s: receivers request further ones
    /// when they need them.
    public var keyFrameInterval = Duration.seconds(10)
    /// What is reduced if the bit rate does not suffice: the size with ``VideoContentHint/motion``
    /// (and by default), the frame rate with ``VideoContentHint/details`` and
    /// ``VideoContentHint/text``. `nil`, the default, for the source's own hint
    /// (``VideoSource/contentHint()``).
    public var contentHint: VideoContentHint?

    /// Creates a configuration with the default values.
    public init() {}
}

/// The form in which the engine's own audio is sent to the channel.
public struct AudioEncoderConfiguration: Hashable, Sendable {
    /// The codec in which frames are sent. `nil`, the default: unencoded if the channel carries
    /// frames, as a ``LoopbackNetwork`` does; otherwise the first codec that the backend encodes
    /// and the channel carries.
    public var codec: AudioCodec?
    /// The bit rate of encoded audio, in bits per second. Default 64,000.
    public var bitRate = 64_000

    /// Creates a configuration with the default values.
    public init() {}
}
