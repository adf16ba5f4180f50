/// Divides a recording into files without a gap; each file begins with a key frame.
///
/// Files are numbered: `out-00000.mkv`, `out-00001.mkv` ….
public struct RecordingSegments: Hashable, Sendable {
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
    public struct Ring: Hashable, Sendable {
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
