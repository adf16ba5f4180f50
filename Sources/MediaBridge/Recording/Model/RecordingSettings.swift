/// How a ``Recorder`` encodes video.
public struct VideoEncoding: Sendable {
    /// The codec; `nil`: encoded video is recorded unchanged, and raw video is encoded with the first of
    /// ``RecordingContainer/videoCodecs`` that has an encoder installed.
    public var codec: VideoCodec?
    /// Whether only encoded video is recorded, unchanged.
    package private(set) var isCopy = false
    /// Bits per second; `nil`: constant quality for H.264 by x264enc, H.265 by x265enc, MJPEG and FFV1; otherwise a
    /// tenth of a bit per pixel. If it is set, encoded video is refused, and so are MJPEG and FFV1.
    public var bitRate: Int?
    /// What is lost; not together with ``bitRate``. If it is set, encoded video is refused. `nil`: as ``bitRate`` says.
    public var quality: VideoQuality?
    /// The encoder. Default ``EncoderChoice/automatic``. If another is set, encoded video is refused.
    public var encoder = EncoderChoice.automatic
    /// The longest time between two key frames. Segments begin with a key frame, and so does a
    /// pre-roll. Default 1 s; the length of segments that are shorter.
    public var keyFrameInterval = Duration.seconds(1)

    /// The size to which every picture is scaled, upright and with borders; encoded pictures are refused.
    /// Default `nil`: another size begins another file.
    public var size: VideoSize?

    /// The number of the parameter sets of H.264, which differ from those of another encoder in the same
    /// stream; `nil`: the encoder's default. Only x264enc takes it.
    var parameterSet: Int?

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
    /// Bits per second for all channels together; `nil`: 64,000 for each channel. If it is set, encoded
    /// audio is refused, and so are FLAC and uncompressed audio.
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
    associatedtype Codec: EncodableCodec
    var codec: Codec? { get }
    var isCopy: Bool { get }
    var bitRate: Int? { get }
    var quality: VideoQuality? { get }
    /// What was requested of the encoder: `lossless`, `vah264enc`; `nil`: nothing.
    var request: String? { get }
    /// Whether an encoder may be used.
    func allows(_ encoder: Codec.Encoder) -> Bool
}

extension MediaEncoding {
    /// What was requested by name: a codec, or `copy`; `nil`: anything.
    var requested: String? { isCopy ? "copy" : codec?.rawValue }

    // Of audio, nothing but a codec and a bit rate can be requested.
    var quality: VideoQuality? { nil }
    var request: String? { nil }
    func allows(_ encoder: Codec.Encoder) -> Bool { true }
}

extension VideoEncoding: MediaEncoding {
    var request: String? {
        let name: String? =
            switch encoder {
            case .automatic: nil
            case .software: "software"
            case .hardware: "hardware"
            case .element(let name): name
            }
        let parts = [quality?.rawValue, name].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    func allows(_ element: VideoEncoderElement) -> Bool {
        encoder.allows(element)
            && (quality != .lossless || element.quantizers[.lossless] != nil)
    }
}

extension AudioEncoding: MediaEncoding {}

// MARK: - Files

/// Divides a recording into files without a gap; each file begins with a key frame.
///
/// Files are numbered: `out-00000.mkv`, `out-00001.mkv` …; with dates in their names, see
/// ``Recorder/Configuration/isDated``.
///
/// With a limit such as ``keepFiles`` the files are a ring. Whenever a file begins or is complete, the oldest files
/// are removed until all limits are kept, those of earlier recordings with the same path included. The file being
/// written counts as well. A file `NAME` stays while there is a file `NAME.keep` beside it, and does not count. The
/// newest file is never removed. A file that cannot be removed is reported once (``RecorderEvent/warning(_:)``), and
/// does not count either.
public struct RecordingSegments: Sendable {
    /// Duration of one file; `nil`: limited by ``bytes`` only. A file ends at the first key frame
    /// from there on.
    public var length: Duration?
    /// Maximum size of one file in bytes, as long as a group of pictures is smaller than that;
    /// `nil`: limited by ``length`` only.
    public var bytes: Int?
    /// Whether files end at whole multiples of ``length`` by the wall clock: with ten minutes at
    /// :00, :10, :20 and so on, local time unless ``Recorder/Configuration/isUTC`` is true. The first file is
    /// shorter. Encoded video gets a key frame there; copied video ends a file at its next one.
    /// Default: false, files end ``length`` after they began.
    public var isAligned = false
    /// Maximum number of files; `nil` for no limit.
    public var keepFiles: Int?
    /// Maximum size of all files in bytes; `nil` for no limit.
    public var keepBytes: Int?
    /// The longest time since a file's last change; `nil` for no limit.
    public var keepAge: Duration?
    /// The least number of bytes free on the disk; checked while a file is written too. `nil` for no limit.
    public var keepFree: Int?

    /// Creates limits; `nil` for no limit.
    public init(
        length: Duration? = nil, bytes: Int? = nil, keepFiles: Int? = nil, keepBytes: Int? = nil,
        keepAge: Duration? = nil, keepFree: Int? = nil
    ) {
        (self.length, self.bytes) = (length, bytes)
        (self.keepFiles, self.keepBytes) = (keepFiles, keepBytes)
        (self.keepAge, self.keepFree) = (keepAge, keepFree)
    }

    /// Whether old files are removed.
    package var isRing: Bool {
        keepFiles != nil || keepBytes != nil || keepAge != nil || keepFree != nil
    }
}

/// Which part of the media is recorded around events.
///
/// A file begins with the last key frame that is at least ``before`` earlier than the beginning of an event, and ends
/// ``after`` its end. Events whose files would touch share one. No media is in two files.
public struct RecordedEvents: Equatable, Sendable {
    /// The names of the detectors; empty, the default: all.
    public var detectors: Set<String>
    /// The time before the beginning of an event, at least: a file begins with a key frame. Default 5 s.
    public var before: Duration
    /// The time after the end of an event. Default 10 s.
    public var after: Duration

    /// Creates the setting.
    public init(
        of detectors: Set<String> = [], before: Duration = .seconds(5),
        after: Duration = .seconds(10)
    ) {
        (self.detectors, self.before, self.after) = (detectors, before, after)
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
    /// See ``Recorder/Configuration/events``.
    var events: RecordedEvents?
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
    /// See ``Recorder/Configuration/isFragmented``.
    var isFragmented = false
    /// See ``Recorder/Configuration/isDurable``.
    var isDurable = false
}
