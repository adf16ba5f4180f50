/// What the victim records, and which fault it triggers. Passed as one JSON argument.
struct VictimOrder: Codable, Sendable {
    var path: String
    /// The live capture string; empty: ``pictures`` are pushed.
    var capture = ""
    /// Whether there is a second output, which must continue through every fault of the recording.
    var hasPreview = false
    /// Frames that are pushed into a recorder, thirty a second.
    var pictures: [Picture] = []
    /// The size of the buffer pool for pushed frames, as in a camera; 0: each frame has its own buffer.
    var poolSize = 0

    /// Whether a capture that ends or fails is restarted.
    var restarts = false
    /// The frame after which the program stops the recording; 0: none.
    var stopAfter = 0
    /// The frame at which a processor throws; 0: none.
    var throwAt = 0
    /// The frame after which another writer fills the disk; 0: none.
    var fillAfter = 0

    /// The number of 16×16 frames at 1000 fps that are pushed as fast as possible, without drops; 0: none.
    var fast = 0
    /// The index of the pushed frame before which the recording starts.
    var startBefore = 0

    /// Whether the source is encoded, and only encoded media is recorded.
    var isCopy = false
    var hasPictures = true
    var hasSound = true
    /// Whether the caller blocks until the queue has room, instead of the queue dropping its oldest frame.
    var waits = false
    /// Pre-roll in seconds; 0: none.
    var preRoll = 0.0
    /// The length of a segment in seconds, and the number of segments to keep; 0: one file.
    var segment = 0.0
    var keep = 0
    /// Bits per second; 0: the encoder's default quality.
    var bitrate = 0
    var stallTimeout = 10.0
    var isDurable = false
    /// How many frames may be offered and not written before the next one waits, so that a busy machine loses no more
    /// than others; 0: any number.
    var lag = 0
    /// Bytes; negative: the default.
    var reserve = -1
    /// Maximum bytes per file, by RLIMIT_FSIZE; 0: unlimited.
    var sizeLimit = 0

    /// A pushed frame.
    struct Picture: Codable, Sendable {
        /// Seconds; `nil`: no timestamp.
        var time: Double?
        var width = 320
        var height = 240
        var format = "I420"
    }

    /// Frames at the pace of a camera, starting at `first` seconds.
    static func steady(
        _ count: Int, from first: Double = 0, width: Int = 320, height: Int = 240,
        format: String = "I420"
    ) -> [Picture] {
        (0..<count).map {
            Picture(
                time: first + Double($0) / 30, width: width, height: height, format: format)
        }
    }
}

/// The victim's report about itself, if it survives.
struct VictimReport: Codable, Sendable {
    struct Failure: Codable, Sendable {
        var code: String
        var message: String
    }
    struct File: Codable, Sendable {
        var path: String
        var frames: Int
        var seconds: Double
        var hasFailed: Bool
    }
    /// Why the recording ended.
    var ended: String?
    var failure: Failure?
    /// Why the bridge ended; `nil` without a bridge.
    var bridgeEnded: String?
    /// Whether stopping threw an error.
    var hasThrown = false
    var offered = 0
    var written = 0
    /// Frames that were repeated in place of missing ones.
    var repeated = 0
    var dropped: [String: Int] = [:]
    var files: [File] = []
    /// Frames delivered to the second output, and frames evicted from its queue or the capture's on a busy machine.
    var preview = 0
    var previewEvicted = 0
    /// Seconds from the stop request to the end.
    var stopSeconds = 0.0
    /// Pushed frames that found the pool empty.
    var starved = 0
    var events: [String] = []

    /// Whether every frame is accounted for.
    var addsUp: Bool { offered + repeated == written + dropped.values.reduce(0, +) }
}
