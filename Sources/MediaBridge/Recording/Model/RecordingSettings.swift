/// How a ``Recorder`` encodes video.
public struct VideoEncoding: Sendable {
    /// The codec; `nil`: encoded video is recorded unchanged, and raw video is encoded with the first of
    /// ``RecordingContainer/videoCodecs`` that has an encoder installed.
    public var codec: VideoCodec?
    /// Whether only encoded video is recorded, unchanged.
    package private(set) var isCopy = false
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
}

/// How a ``Recorder`` encodes audio.
public struct AudioEncoding: Sendable {
    /// The codec; `nil`: encoded audio is recorded unchanged, and raw audio is encoded with the first of
    /// ``RecordingContainer/audioCodecs`` that has an encoder installed.
    public var codec: AudioCodec?
    /// Whether only encoded audio is recorded, unchanged.
    package private(set) var isCopy = false
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
}

/// How one stream is encoded.
protocol MediaEncoding {
    associatedtype Codec: TabledCodec
    var codec: Codec? { get }
    var isCopy: Bool { get }
    var bitRate: Int? { get }
}

extension MediaEncoding {
    /// What was requested by name: a codec, or `copy`; `nil`: anything.
    var asked: String? { isCopy ? "copy" : codec?.rawValue }
}

extension VideoEncoding: MediaEncoding {}
extension AudioEncoding: MediaEncoding {}

// MARK: - Files

/// Divides a recording into files without a gap; each file begins with a key frame.
///
/// Files are numbered: `out-00000.mkv`, `out-00001.mkv` ….
public struct RecordingSegments: Sendable {
    /// Duration of one file; `nil`: limited by ``bytes`` only. A file ends at the first key frame
    /// from there on.
    public var length: Duration?
    /// Maximum size of one file in bytes, as long as a group of pictures is smaller than that;
    /// `nil`: limited by ``length`` only.
    public var bytes: Int?
    /// Makes the files a ring: the oldest is removed if there is more than this. `nil`: all are
    /// kept.
    public var keep: Ring?

    /// Creates limits; `nil` for no limit.
    public init(length: Duration? = nil, bytes: Int? = nil, keep: Ring? = nil) {
        self.length = length
        self.bytes = bytes
        self.keep = keep
    }

    /// The limits of a ring of files. The file being written counts as well.
    public struct Ring: Sendable {
        /// Maximum number of files; `nil` for no limit.
        public var files: Int?
        /// Maximum size of all files in bytes; `nil` for no limit.
        public var bytes: Int?

        /// Creates a limit for a ring.
        public init(files: Int? = nil, bytes: Int? = nil) {
            self.files = files
            self.bytes = bytes
        }
    }
}

/// What a ``Recorder`` does if there is a file of the recording's name. Pipes and devices are written in any case.
public enum WhenExists: Hashable, Sendable {
    /// The recorder cannot be created: ``PipelineError/Code/alreadyExists``.
    case fail
    /// The file is overwritten, unless this process reads it.
    case overwrite
    /// The recording gets the next name with a number: `out-00001.mkv`.
    case number
}

/// The limits for the writer of a recording's files.
struct WritingLimits: Sendable {
    var segments: RecordingSegments?
    /// See ``Recorder/Configuration/preRoll``.
    var preRoll: Duration?
    /// See ``Recorder/Configuration/replay``.
    var replay: Duration?
    /// See ``Recorder/Configuration/replayMemory``.
    var replayMemory = Int.max
    /// Bytes to keep free on the disk; 0 for no check.
    var reserve: Int
    /// The longest time without progress while a file is completed.
    var stallTimeout: Duration
    /// See ``Recorder/Configuration/whenExists``.
    var whenExists: WhenExists
}
