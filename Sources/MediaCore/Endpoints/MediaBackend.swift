/// What an engine asks of the media library underneath: its clock, its converters, its decoders and a
/// source for when nobody sets one.
public protocol MediaBackend: Sendable {
    /// The clock that ``LiveTiming/clockOrigin`` of its captures refers to. Cheap. Thread: any.
    func clockTime() -> MediaTime

    /// The source in use while the program sets none. Called in the control zone; may take a second.
    func makeDefaultSource() throws -> sending any VideoSource

    /// Converters for one stream.
    func makeConverter() -> any VideoConverter

    /// The microphone, while the program sets no source of sound. Called in the control zone; may take a
    /// second.
    ///
    /// - Throws: Where there is none; the default always does.
    func makeDefaultAudioSource() throws -> sending any AudioSource

    /// A converter for one stream of sound. Default: ``PlainAudioConverter``.
    func makeAudioConverter() -> any AudioConverter

    /// A decoder for one encoded stream. Called in the control zone.
    ///
    /// - Parameter consumer: Gets the pictures, each with the time of its access unit.
    func makeDecoder(
        _ codec: EncodedVideoFrame.Codec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder
}

extension MediaBackend {
    public func makeDefaultAudioSource() throws -> sending any AudioSource {
        throw FrameError(.badFormat, "there is no microphone here")
    }

    public func makeAudioConverter() -> any AudioConverter { PlainAudioConverter() }
}

/// Turns frames into what a receiver asked for. Thread: any, one caller at a time (others wait).
public protocol VideoConverter: Sendable {
    /// The frame with other pixels, and untouched where there is nothing to do. Everything else of it
    /// stays, its ``VideoFrame/rotation`` too: whoever had it turned upright says so on the result.
    ///
    /// - Throws: Where the picture cannot be converted; the next may be.
    func convert(_ frame: VideoFrame, to target: VideoConversion) throws -> VideoFrame
}

/// Turns access units into frames.
///
/// A damaged unit costs its own picture, and those that build on it; the decoder goes on with the next
/// that it understands. Its consumer's ``VideoFrameConsumer/sourceDidFail(_:)`` is called where nothing
/// helps any more, and then ``decode(_:)`` says ``DropCause/closed``.
public protocol VideoDecoder: Sendable {
    /// Takes one access unit; its picture comes to the consumer later, or at once. Thread: any, one
    /// caller at a time. Does not block.
    ///
    /// - Returns: ``DropCause/queueFull`` where too many wait, and the unit is lost with all that build on
    ///   it; ``DropCause/undecodable`` for bytes that are no unit of the codec;
    ///   ``DropCause/wrongBufferType`` for a unit of another codec; ``DropCause/closed`` after ``stop()``.
    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// Units that were taken and that no picture came of, as far as is known by now: damaged ones, and
    /// those that build on a unit that is not there.
    var lostUnits: Int { get }

    /// Delivers the pictures that are held back for the sake of their order. The next unit must be one
    /// that builds on none. Called in the control zone; blocks until the pictures were delivered.
    func drain()

    /// Gives everything back; no picture comes after it. Called in the control zone; may block.
    func stop()
}

extension VideoDecoder {
    public var lostUnits: Int { 0 }
    public func drain() {}
}

/// What a receiver wants of a picture: applied in the order rotation, mirror, size, pixel format.
///
/// A picture that is brought to a ``size`` of another shape gets borders, and is never distorted: what
/// comes out then has square pixels.
public struct VideoConversion: Hashable, Sendable {
    /// `nil` to keep the frame's.
    public var pixelFormat: VideoPixelFormat?
    /// `nil` to keep the frame's.
    public var size: VideoSize?
    /// Whether a picture of another shape is cropped to the size, instead of getting borders. Default
    /// false.
    public var fillsSize: Bool
    /// How far to turn the picture clockwise.
    public var rotation: VideoRotation
    /// Left becomes right, after the turn.
    public var isMirrored: Bool

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
    /// Whether anything is to be done to pictures of a format.
    public func changes(_ format: VideoFormat) -> Bool {
        if rotation != .none || isMirrored { return true }
        if let pixelFormat, pixelFormat != .any, pixelFormat != format.pixelFormat { return true }
        guard let size else { return false }
        let ratio = format.pixelAspectRatio
        return size != VideoSize(width: format.width, height: format.height)
            || ratio.numerator != ratio.denominator
    }
}
