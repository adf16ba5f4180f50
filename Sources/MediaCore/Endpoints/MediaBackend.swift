package import MediaBasics

/// The media library that an engine uses: its clock, converters, decoders and default sources.
package protocol MediaBackend: Sendable {
    /// Returns the time of the clock to which ``LiveTiming/clockOrigin`` of its captures refers.
    /// Inexpensive. Thread: any.
    func clockTime() -> MediaTime

    /// Creates the video source to use if the program sets none. Called on a queue where it may
    /// block; may take a second.
    func makeDefaultSource() throws -> sending any VideoSource

    /// Creates a video converter for one stream.
    func makeConverter() -> any VideoConverter

    /// Creates the microphone source to use if the program sets no audio source. Called on a queue
    /// where it may block; may take a second.
    ///
    /// - Throws: If there is no microphone.
    func makeDefaultAudioSource() throws -> sending any AudioSource

    /// Creates an audio converter for one stream.
    func makeAudioConverter() -> any AudioConverter

    /// Creates a decoder for one encoded stream. Called on a queue where it may block.
    ///
    /// - Parameters:
    ///   - codec: The codec of the stream.
    ///   - consumer: Receives the pictures, each with the time, the live timing and the rotation of
    ///     its encoded frame.
    func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder

    /// The codecs for which ``makeEncoder(_:to:)`` has an encoder, the preferred one first.
    var encodableCodecs: [VideoCodec] { get }

    /// Creates an encoder for one stream. Called on a queue where it may block.
    ///
    /// - Parameters:
    ///   - settings: What it makes.
    ///   - consumer: Receives the encoded frames
    ///     (``VideoFrameConsumer/consume(_:)-(EncodedVideoFrame)``).
    func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder

    /// Creates a decoder for one encoded stream of audio.
    func makeAudioDecoder(_ codec: AudioCodec) throws -> any AudioDecoder

    /// The codecs for which ``makeAudioEncoder(_:)`` has an encoder, the preferred one first.
    var encodableAudioCodecs: [AudioCodec] { get }

    /// Creates an encoder for one stream of audio.
    func makeAudioEncoder(_ settings: AudioEncoderSettings) throws -> any AudioEncoder
}

// MARK: Video conversion

/// Converts video frames to the format that a receiver asked for. Thread: any; concurrent calls
/// wait for each other.
package protocol VideoConverter: Sendable {
    /// Returns the frame with converted pixels, or the frame itself if there is nothing to convert.
    /// All other properties are kept, including ``VideoFrame/rotation``: a caller that requests an
    /// upright picture sets the rotation of the result.
    ///
    /// - Throws: If this picture cannot be converted; a later one may succeed.
    func convert(_ frame: VideoFrame, to target: VideoConversion) throws -> VideoFrame
}

/// The picture that a receiver asks for. Applied in the order rotation, mirror, size, pixel format.
///
/// A picture that is scaled to a ``size`` with another aspect ratio gets borders and is not
/// distorted; the result has square pixels.
package struct VideoConversion: Hashable, Sendable {
    /// The pixel format; `nil` to keep the frame's.
    package var pixelFormat: VideoPixelFormat?
    /// The size; `nil` to keep the frame's.
    package var size: VideoSize?
    /// Whether a picture with another aspect ratio is cropped to the size, instead of getting
    /// borders. Default `false`.
    package var fillsSize: Bool
    /// The clockwise rotation to apply.
    package var rotation: VideoRotation
    /// Whether the picture is mirrored left to right, after the rotation.
    package var isMirrored: Bool

    /// Creates a request that changes nothing by default.
    package init(
        pixelFormat: VideoPixelFormat? = nil, size: VideoSize? = nil, fillsSize: Bool = false,
        rotation: VideoRotation = .upright, isMirrored: Bool = false
    ) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.fillsSize = fillsSize
        self.rotation = rotation
        self.isMirrored = isMirrored
    }

    /// Returns whether pictures of a format must be converted.
    package func changes(_ format: VideoFormat) -> Bool {
        if rotation != .upright || isMirrored { return true }
        if let pixelFormat, pixelFormat != .any, pixelFormat != format.pixelFormat { return true }
        guard let size else { return false }
        let ratio = format.pixelAspectRatio
        return size != format.size || ratio.numerator != ratio.denominator
    }
}

// MARK: Video coders

/// The settings of an encoder for a live video stream.
package struct VideoEncoderSettings: Hashable, Sendable {
    /// The codec of the encoded frames.
    package var codec: VideoCodec
    /// The bit rate, in bits per second. The encoded frames of one second have approximately this size
    /// in total.
    package var bitRate: Int
    /// The frame rate for which the bits are distributed, in frames per second. Default 30.
    package var frameRate: Double
    /// The maximum interval between two key frames. Default 10 s.
    package var keyFrameInterval: Duration
    /// What matters most in the pictures. Default none.
    package var contentHint: VideoContentHint
    /// The encoder. Default ``EncoderChoice/automatic``.
    package var encoder = EncoderChoice.automatic
    /// The names of encoders that have failed, and must not be used. Default none.
    package var avoided: Set<String> = []

    package init(
        _ codec: VideoCodec, bitRate: Int, frameRate: Double = 30,
        keyFrameInterval: Duration = .seconds(10), contentHint: VideoContentHint = .unspecified
    ) {
        self.codec = codec
        self.bitRate = bitRate
        self.frameRate = frameRate
        self.keyFrameInterval = keyFrameInterval
        self.contentHint = contentHint
    }
}

/// Encodes the frames of one live stream, without look-ahead or reordering: each encoded frame is
/// produced at once.
///
/// A change of the frame size or format starts with a key frame, and no frame is lost. An encoder
/// that fails calls ``VideoFrameConsumer/sourceDidFail(_:)`` of its consumer, and ``encode(_:)``
/// then returns ``DropCause/closed``.
package protocol VideoEncoder: Sendable {
    /// The name of the element that encodes.
    var name: String { get }
    /// Accepts one frame, later than the previous one. Its encoded frame is delivered to the consumer
    /// at once or later, with the frame's times and rotation. Thread: any; calls must not overlap.
    /// Does not block.
    ///
    /// - Returns: ``DropCause/queueFull`` if too many frames wait; the frame is then dropped.
    ///   ``DropCause/badSize`` for an odd width or height; ``DropCause/badFormat`` for a frame that
    ///   cannot be encoded; ``DropCause/noTime``; ``DropCause/backwards``; ``DropCause/closed``
    ///   after ``stop()``.
    func encode(_ frame: VideoFrame) -> FrameDisposition

    /// Signalled when ``encode(_:)`` may accept a frame again that it refused as
    /// ``DropCause/queueFull``. One waiter.
    var room: MonotonicSignal { get }

    /// Makes the next frame a key frame.
    func requestKeyFrame()

    /// Changes the bit rate from the next frame on, in bits per second.
    func setBitRate(_ bitRate: Int)

    /// Delivers the encoded frames of all accepted frames, then releases all resources; none is
    /// delivered afterwards. Called on a queue where it may block.
    func stop()
}

/// Decodes encoded frames (access units) into pictures.
///
/// A damaged frame loses its own picture and the pictures that refer to it; decoding continues with
/// the next frame that can be decoded. If the decoder fails permanently, it calls
/// ``VideoFrameConsumer/sourceDidFail(_:)`` of its consumer, and ``decode(_:)`` then returns
/// ``DropCause/closed``.
package protocol VideoDecoder: Sendable {
    /// Accepts one encoded frame. Its picture is delivered to the consumer at once or later. Thread:
    /// any; calls must not overlap. Does not block.
    ///
    /// - Returns: ``DropCause/queueFull`` if too many frames are queued; the frame is then lost, with
    ///   all frames that refer to it. ``DropCause/undecodable`` for bytes that are not a frame of the
    ///   codec; ``DropCause/wrongBufferType`` for a frame of another codec; ``DropCause/closed``
    ///   after ``stop()``.
    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// Signalled when ``decode(_:)`` may accept a frame again that it refused as
    /// ``DropCause/queueFull``. One waiter.
    var room: MonotonicSignal { get }

    /// The number of accepted frames that are known to have produced no picture: damaged frames, and
    /// frames that refer to a missing frame.
    var lostUnits: Int { get }

    /// The number of pictures that the decoder inserted, such as repeated ones, minus the number of
    /// accepted frames without a picture, such as frames with only parameter sets. ``lostUnits`` and
    /// the delivered pictures therefore add up to the accepted frames plus this number.
    var pictureSurplus: Int { get }

    /// Delivers the pictures that are held back for reordering. The next frame must not refer to
    /// earlier ones. Called on a queue where it may block; returns when the pictures have been
    /// delivered.
    func drain()

    /// Releases all resources; no picture is delivered afterwards. Called on a queue where it may
    /// block.
    func stop()
}

// MARK: Audio coders

/// The settings of an encoder for a live audio stream.
package struct AudioEncoderSettings: Hashable, Sendable {
    /// The codec of the encoded frames.
    package var codec: AudioCodec
    /// The bit rate, in bits per second. A codec with a fixed rate ignores it. Default 64,000:
    /// speech and music in stereo, with Opus.
    package var bitRate: Int

    package init(_ codec: AudioCodec, bitRate: Int = 64_000) {
        self.codec = codec
        self.bitRate = bitRate
    }
}

/// Encodes the frames of one live stream, on the caller's thread.
///
/// Thread: any, one call at a time. A call takes a fraction of the time that its samples last.
package protocol AudioEncoder: Sendable {
    /// Encodes the samples of a frame. Samples that are missing before it are encoded as silence,
    /// and samples that overlap the previous frame are dropped (``AudioContinuity``). A larger time
    /// difference restarts the stream.
    ///
    /// - Returns: The completed encoded frames, each with the time of its first sample: none while too
    ///   few samples wait, several for a long frame.
    /// - Throws: If the frame has no time or cannot be encoded; encoding the next frame may
    ///   succeed.
    func encode(_ frame: AudioFrame) throws -> [EncodedAudioFrame]

    /// Encodes the waiting samples, padded with silence to the end of the encoded frame. This ends the
    /// encoder.
    func finish() throws -> [EncodedAudioFrame]

    /// Changes the bit rate from the next frame on, in bits per second.
    func setBitRate(_ bitRate: Int)

    /// Sets the expected fraction of lost encoded frames, from 0 to 1; zero at first. A codec that
    /// supports it puts a second, coarse copy of each frame's sound into the next one, within the bit
    /// rate.
    func expectLoss(of share: Double)
}

/// Decodes the encoded frames of one stream of audio, on the caller's thread.
///
/// Thread: any, one call at a time. A call takes a fraction of the time that its samples last.
package protocol AudioDecoder: Sendable {
    /// Decodes an encoded frame, in the order of times.
    ///
    /// - Returns: The samples, with the encoded frame's time and live timing. Several frames if encoded
    ///   frames before this one are missing and the codec replaces up to 120 ms of them by what might have
    ///   been there; none while a codec begins.
    /// - Throws: If the encoded frame cannot be decoded; the next one may be.
    func decode(_ unit: EncodedAudioFrame) throws -> [AudioFrame]

    /// The number of samples, per channel, that replace missing encoded frames.
    var concealedSamples: Int { get }
}
