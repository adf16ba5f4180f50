/// What an engine asks of the media library underneath: its clock, its converters, its decoders and a
/// source for when nobody sets one.
public protocol MediaBackend: Sendable {
    /// The clock that ``LiveTiming/clockOrigin`` of its captures refers to. Cheap. Thread: any.
    func clockTime() -> MediaTime

    /// The source in use while the program sets none. Called in the control zone; may take a second.
    func makeDefaultSource() throws -> sending any VideoSource

    /// Converters for one stream.
    func makeConverter() -> any VideoConverter

    /// A decoder for one encoded stream. Called in the control zone.
    ///
    /// - Parameter consumer: Gets the pictures, each with the time of its access unit.
    func makeDecoder(
        _ codec: EncodedVideoFrame.Codec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder
}

/// Turns frames into what a receiver asked for. Thread: any, one caller at a time (others wait).
public protocol VideoConverter: Sendable {
    /// - Throws: Where the picture cannot be converted.
    func convert(_ frame: VideoFrame, to target: VideoConversion) throws -> VideoFrame
}

/// Turns access units into frames.
public protocol VideoDecoder: Sendable {
    /// Takes one access unit; its picture comes to the consumer later, or at once. Thread: any, one
    /// caller at a time. Does not block.
    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// Gives everything back; no picture comes after it. Called in the control zone; may block.
    func stop()
}

/// What a receiver wants of a picture: applied in the order rotation, mirror, size, pixel format.
public struct VideoConversion: Hashable, Sendable {
    /// `nil` to keep the frame's.
    public var pixelFormat: VideoPixelFormat?
    /// `nil` to keep the frame's.
    public var size: VideoSize?
    /// How far to turn the picture clockwise.
    public var rotation: VideoRotation
    /// Left becomes right, after the turn.
    public var isMirrored: Bool

    public init(
        pixelFormat: VideoPixelFormat? = nil, size: VideoSize? = nil,
        rotation: VideoRotation = .none, isMirrored: Bool = false
    ) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.rotation = rotation
        self.isMirrored = isMirrored
    }
}
