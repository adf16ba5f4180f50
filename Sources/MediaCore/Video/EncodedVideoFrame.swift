/// One access unit of an encoded stream: what push mode takes besides raw pictures.
public struct EncodedVideoFrame: Sendable {
    /// How the bytes are encoded.
    public enum Codec: String, Sendable, CaseIterable {
        /// H.264 in the byte-stream format (start codes), one access unit, parameter sets with the first.
        case h264
        case vp8
        /// One JPEG picture.
        case mjpeg
    }
    public var codec: Codec
    public var bytes: [UInt8]
    /// When the picture was taken, in any one clock that goes forward; `nil` for the moment of the push.
    public var time: MediaTime?
    public var rotation: VideoRotation

    public init(
        _ codec: Codec, bytes: [UInt8], time: MediaTime?, rotation: VideoRotation = .none
    ) {
        self.codec = codec
        self.bytes = bytes
        self.time = time
        self.rotation = rotation
    }
}
