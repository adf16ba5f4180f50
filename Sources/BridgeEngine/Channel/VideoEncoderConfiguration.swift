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
    /// The codec in which frames are sent. `nil`, the default: as they are where the channel carries
    /// frames, as a ``LoopbackNetwork`` does; otherwise in the first codec that the backend encodes and
    /// the channel carries. Units of a codec that the channel carries are sent as they are in any case.
    public var codec: EncodedVideoFrame.Codec?
    /// The bit rate of encoded frames, in bits per second; `nil`, the default, for a tenth of a bit for
    /// each pixel. The network may limit it further.
    public var bitRate: Int?
    /// The most frames per second that are encoded; `nil`, the default, for all.
    public var frameRate: Double?
    /// The longest time between two key frames. Default 10 s: receivers ask for those that they need.
    public var keyFrameInterval = Duration.seconds(10)
    /// What gives way if the bit rate does not suffice: with ``VideoContentHint/motion`` (and by default)
    /// the size, with ``VideoContentHint/details`` and ``VideoContentHint/text`` the frame rate. `nil`,
    /// the default, for what the source says (``VideoSource/contentHint()``).
    public var contentHint: VideoContentHint?

    /// Creates a configuration with the default values.
    public init() {}
}
