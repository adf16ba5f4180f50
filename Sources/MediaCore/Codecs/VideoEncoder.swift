/// The settings of an encoder for a live video stream.
package struct VideoEncoderSettings: Hashable, Sendable {
    /// The codec of the units.
    package var codec: VideoCodec
    /// The bit rate, in bits per second. The units of one second have approximately this size in
    /// total.
    package var bitRate: Int
    /// The frame rate for which the bits are distributed, in frames per second.
    package var frameRate: Double
    /// The maximum interval between two key frames.
    package var keyFrameInterval: Duration
    /// What matters most in the pictures.
    package var contentHint: VideoContentHint

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - codec: The codec of the units.
    ///   - bitRate: The bit rate, in bits per second.
    ///   - frameRate: The frame rate, in frames per second. Default 30.
    ///   - keyFrameInterval: The maximum interval between two key frames. Default 10 s.
    ///   - contentHint: What matters most in the pictures. Default none.
    package init(
        _ codec: VideoCodec, bitRate: Int, frameRate: Double = 30,
        keyFrameInterval: Duration = .seconds(10), contentHint: VideoContentHint = .none
    ) {
        self.codec = codec
        self.bitRate = bitRate
        self.frameRate = frameRate
        self.keyFrameInterval = keyFrameInterval
        self.contentHint = contentHint
    }
}

/// Encodes the frames of one live stream, without look-ahead or reordering: each unit is produced
/// at once.
///
/// A change of the frame size or format starts with a key frame, and no frame is lost. An encoder
/// that fails calls ``VideoFrameConsumer/sourceDidFail(_:)`` of its consumer, and ``encode(_:)``
/// then returns ``DropCause/closed``.
package protocol VideoEncoder: Sendable {
    /// Accepts one frame, later than the previous one. Its unit is delivered to the consumer at
    /// once or later, with the frame's times and rotation. Thread: any; calls must not overlap.
    /// Does not block.
    ///
    /// - Returns: ``DropCause/queueFull`` if too many frames wait; the frame is then dropped.
    ///   ``DropCause/badSize`` for an odd width or height; ``DropCause/badFormat`` for a frame that
    ///   cannot be encoded; ``DropCause/noTime``; ``DropCause/backwards``; ``DropCause/closed``
    ///   after ``stop()``.
    func encode(_ frame: VideoFrame) -> FrameDisposition

    /// Makes the next frame a key frame.
    func requestKeyFrame()

    /// Changes the bit rate from the next frame on, in bits per second.
    func setBitRate(_ bitRate: Int)

    /// Delivers the units of all accepted frames, then releases all resources; no unit is delivered
    /// afterwards. Called on a queue where it may block.
    func stop()
}
