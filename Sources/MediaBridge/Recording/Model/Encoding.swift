/// How a ``Recorder`` encodes video.
public struct VideoEncoding: Hashable, Sendable {
    /// The codec; `nil`: encoded video is recorded unchanged, and raw video is encoded with the first of
    /// ``RecordingContainer/videoCodecs`` that has an encoder installed.
    public var codec: VideoCodec?
    /// Whether only encoded video is recorded, unchanged.
    public private(set) var isCopy = false
    /// Bits per second; `nil`: constant quality, or, for encoders without such a mode, a tenth of a
    /// bit per pixel.
    public var bitRate: Int?
    /// The longest time between two key frames. Segments begin with a key frame, and so does a
    /// pre-roll. Default 1 s; the length of segments that are shorter.
    public var keyFrameInterval = Duration.seconds(1)

    /// The size to which every picture is scaled, upright and with borders; encoded pictures are refused.
    /// Default `nil`: another size begins another file.
    public var size: VideoSize?

    /// Creates an encoding; `nil` chooses the codec or the bit rate automatically.
    public init(_ codec: VideoCodec? = nil, bitRate: Int? = nil) {
        self.codec = codec
        self.bitRate = bitRate
    }

    /// Encoded video is recorded unchanged; raw video is refused.
    public static var copy: Self {
        var encoding = Self()
        encoding.isCopy = true
        return encoding
    }

    /// What was requested by name: a codec, or `copy`; `nil`: anything.
    var asked: String? { isCopy ? "copy" : codec?.rawValue }
}

/// How a ``Recorder`` encodes audio.
public struct AudioEncoding: Hashable, Sendable {
    /// The codec; `nil`: encoded audio is recorded unchanged, and raw audio is encoded with the first of
    /// ``RecordingContainer/audioCodecs`` that has an encoder installed.
    public var codec: AudioCodec?
    /// Whether only encoded audio is recorded, unchanged.
    public private(set) var isCopy = false
    /// Bits per second for all channels together; `nil`: 64,000 for each channel. Ignored for FLAC.
    public var bitRate: Int?

    /// Creates an encoding; `nil` chooses the codec or the bit rate automatically.
    public init(_ codec: AudioCodec? = nil, bitRate: Int? = nil) {
        self.codec = codec
        self.bitRate = bitRate
    }

    /// Encoded audio is recorded unchanged; raw audio is refused.
    public static var copy: Self {
        var encoding = Self()
        encoding.isCopy = true
        return encoding
    }

    /// What was requested by name: a codec, or `copy`; `nil`: anything.
    var asked: String? { isCopy ? "copy" : codec?.rawValue }
}
