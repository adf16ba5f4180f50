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
    /// - Throws: If there is no microphone; the default implementation always throws.
    func makeDefaultAudioSource() throws -> sending any AudioSource

    /// Creates an audio converter for one stream. The default converts between 16-bit and float
    /// samples, and between mono and more channels, at one sample rate.
    func makeAudioConverter() -> any AudioConverter

    /// Creates a decoder for one encoded stream. Called on a queue where it may block.
    ///
    /// - Parameters:
    ///   - codec: The codec of the stream.
    ///   - consumer: Receives the pictures, each with the time, the live timing and the rotation of
    ///     its access unit.
    func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder

    /// The codecs for which ``makeEncoder(_:to:)`` has an encoder, the preferred one first. Default: none.
    var encodableCodecs: [VideoCodec] { get }

    /// Creates an encoder for one stream. Called on a queue where it may block. The default
    /// implementation always throws.
    ///
    /// - Parameters:
    ///   - settings: What it makes.
    ///   - consumer: Receives the units (``VideoFrameConsumer/consume(_:)-(EncodedVideoFrame)``).
    func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder

    /// Creates a decoder for one encoded stream of audio. The default implementation always throws.
    func makeAudioDecoder(_ codec: AudioCodec) throws -> any AudioDecoder

    /// The codecs for which ``makeAudioEncoder(_:)`` has an encoder, the preferred one first. Default:
    /// none.
    var encodableAudioCodecs: [AudioCodec] { get }

    /// Creates an encoder for one stream of audio. The default implementation always throws.
    func makeAudioEncoder(_ settings: AudioEncoderSettings) throws -> any AudioEncoder
}

extension MediaBackend {
    package func makeDefaultAudioSource() throws -> sending any AudioSource {
        throw FrameError(.badFormat, "this backend has no microphone")
    }

    package func makeAudioConverter() -> any AudioConverter { PlainAudioConverter() }

    package var encodableCodecs: [VideoCodec] { [] }

    package func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder {
        throw FrameError(.badFormat, "this backend has no encoder for \(settings.codec)")
    }

    package func makeAudioDecoder(_ codec: AudioCodec) throws -> any AudioDecoder {
        throw FrameError(.badFormat, "this backend has no decoder for \(codec)")
    }

    package var encodableAudioCodecs: [AudioCodec] { [] }

    package func makeAudioEncoder(_ settings: AudioEncoderSettings) throws -> any AudioEncoder {
        throw FrameError(.badFormat, "this backend has no encoder for \(settings.codec)")
    }
}

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
public struct VideoConversion: Hashable, Sendable {
    /// The pixel format; `nil` to keep the frame's.
    public var pixelFormat: VideoPixelFormat?
    /// The size; `nil` to keep the frame's.
    public var size: VideoSize?
    /// Whether a picture with another aspect ratio is cropped to the size, instead of getting
    /// borders. Default `false`.
    public var fillsSize: Bool
    /// The clockwise rotation to apply.
    public var rotation: VideoRotation
    /// Whether the picture is mirrored left to right, after the rotation.
    public var isMirrored: Bool

    /// Creates a request that changes nothing by default.
    public init(
        pixelFormat: VideoPixelFormat? = nil, size: VideoSize? = nil, fillsSize: Bool = false,
        rotation: VideoRotation = .none, isMirrored: Bool = false
    ) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.fillsSize = fillsSize
        self.rotation = rotation
        self.isMirrored = isMirrored
    }

    /// Returns whether pictures of a format must be converted.
    public func changes(_ format: VideoFormat) -> Bool {
        if rotation != .none || isMirrored { return true }
        if let pixelFormat, pixelFormat != .any, pixelFormat != format.pixelFormat { return true }
        guard let size else { return false }
        let ratio = format.pixelAspectRatio
        return size != format.size || ratio.numerator != ratio.denominator
    }
}
