/// One access unit of an encoded stream, which push mode accepts besides raw pictures.
public struct EncodedVideoFrame: Sendable {
    /// The codec of the bytes.
    public enum Codec: String, Sendable, CaseIterable {
        /// H.264 in byte-stream format (start codes): one access unit. The first one includes the
        /// parameter sets.
        case h264
        /// VP8: one frame.
        case vp8
        /// One JPEG picture.
        case mjpeg
    }
    /// The codec of ``bytes``.
    public var codec: Codec
    /// The encoded access unit.
    public var bytes: [UInt8]
    /// The capture time, by any clock that only advances; `nil` to use the time of the push.
    public var time: MediaTime?
    /// How far the picture must be turned clockwise to stand upright.
    public var rotation: VideoRotation

    /// Creates an access unit. Its bytes are not checked here.
    public init(
        _ codec: Codec, bytes: [UInt8], time: MediaTime?, rotation: VideoRotation = .none
    ) {
        self.codec = codec
        self.bytes = bytes
        self.time = time
        self.rotation = rotation
    }
}
