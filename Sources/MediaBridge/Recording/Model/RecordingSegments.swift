/// Where one file ends and the next begins: without a gap, at a picture that needs none before it.
///
/// Files are numbered: `out-00000.mkv`, `out-00001.mkv` ….
public struct RecordingSegments: Hashable, Sendable {
    /// Of one file; `nil`: by ``bytes`` alone. A file ends with the first key frame from there on.
    public var length: Duration?
    /// Of one file at most, as far as a group of pictures is smaller; `nil`: by ``length`` alone.
    public var bytes: Int?
    /// Makes a ring: the oldest file is removed when there is more than this. `nil`: all are kept.
    public var keep: Ring?

    public init(length: Duration? = nil, bytes: Int? = nil, keep: Ring? = nil) {
        self.length = length
        self.bytes = bytes
        self.keep = keep
    }

    /// How much a ring of files keeps, the one that is being written counted in.
    public struct Ring: Hashable, Sendable {
        public var files: Int?
        public var bytes: Int?

        public init(files: Int? = nil, bytes: Int? = nil) {
            self.files = files
            self.bytes = bytes
        }
    }
}

/// What the writer of a recording's files keeps to.
struct WritingLimits: Sendable {
    var segments: RecordingSegments?
    /// As of ``Recorder/Configuration/preRoll``.
    var preRoll: Duration?
    /// Bytes that the disk keeps free; 0: none.
    var reserve: Int
    /// How long a file that is being completed may stand still.
    var patience: Duration
}
