public import MediaCore

/// The form in which the engine's own audio is sent to the channel.
public struct AudioEncoderConfiguration: Hashable, Sendable {
    /// The codec in which frames are sent. `nil`, the default: unencoded if the channel carries
    /// frames, as a ``LoopbackNetwork`` does; otherwise the first codec that the backend encodes
    /// and the channel carries.
    public var codec: EncodedAudioFrame.Codec?
    /// The bit rate of encoded audio, in bits per second. Default 64,000.
    public var bitRate = 64_000

    /// Creates a configuration with the default values.
    public init() {}
}
