/// What an encoder makes of a live stream.
public struct VideoEncoderSettings: Hashable, Sendable {
    /// The codec of the units.
    public var codec: EncodedVideoFrame.Codec
    /// The bit rate, in bits per second. The units of a second have this size together, roughly.
    public var bitRate: Int
    /// The frame rate for which the bits are distributed, in frames per second.
    public var frameRate: Double
    /// The longest time between two key frames.
    public var keyFrameInterval: Duration
    /// What matters most in the pictures.
    public var contentHint: VideoContentHint

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - codec: The codec of the units.
    ///   - bitRate: The bit rate, in bits per second.
    ///   - frameRate: The frame rate, in frames per second. Default 30.
    ///   - keyFrameInterval: The longest time between two key frames. Default 10 s.
    ///   - contentHint: What matters most in the pictures. Default none.
    public init(
        _ codec: EncodedVideoFrame.Codec, bitRate: Int, frameRate: Double = 30,
        keyFrameInterval: Duration = .seconds(10), contentHint: VideoContentHint = .none
    ) {
        self.codec = codec
        self.bitRate = bitRate
        self.frameRate = frameRate
        self.keyFrameInterval = keyFrameInterval
        self.contentHint = contentHint
    }
}

/// Encodes the frames of one live stream: no look-ahead, no reordering, each unit at once.
///
/// Frames of another size or format than before are encoded from a key frame on; no frame is lost at the
/// change. An encoder that fails calls ``VideoFrameConsumer/sourceDidFail(_:)`` of its consumer, and
/// ``encode(_:)`` then returns ``DropCause/closed``.
public protocol VideoEncoder: Sendable {
    /// Accepts one frame, later than the one before. Its unit is delivered to the consumer at once or
    /// later, with the frame's times and rotation. Thread: any; calls must not overlap. Does not block.
    ///
    /// - Returns: ``DropCause/queueFull`` if too many frames wait; the frame is left out then.
    ///   ``DropCause/badSize`` for an odd width or height; ``DropCause/badFormat`` for a frame that cannot
    ///   be encoded; ``DropCause/noTime``; ``DropCause/backwards``; ``DropCause/closed`` after ``stop()``.
    func encode(_ frame: VideoFrame) -> FrameDisposition

    /// Makes the next frame a key frame.
    func requestKeyFrame()

    /// Changes the bit rate from the next frame on, in bits per second.
    func setBitRate(_ bitRate: Int)

    /// Delivers the units of all accepted frames, then releases all resources; no unit is delivered
    /// afterwards. Called on a queue where it may block.
    func stop()
}
