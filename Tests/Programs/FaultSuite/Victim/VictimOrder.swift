/// What a victim is to record, and what is to happen to it. One JSON argument.
struct VictimOrder: Codable, Sendable {
    var path: String
    /// What is captured, live; empty: ``pictures`` are pushed.
    var capture = ""
    /// Whether there is a second output, which must go on whatever happens to the recording.
    var hasPreview = false
    /// Pictures that are pushed into a recorder, one for each thirtieth of a second.
    var pictures: [Picture] = []
    /// Small buffers of which the pushed pictures come, as a camera has them; 0: each has its own.
    var poolSize = 0

    /// Whether a capture that ends or fails is started again.
    var restarts = false
    /// The frame after which the program stops the recording; 0: none.
    var stopAfter = 0
    /// The frame at which a processor throws; 0: none.
    var throwAt = 0
    /// The frame after which another writer fills the disk; 0: none.
    var fillAfter = 0

    /// Pictures of 16×16 at 1000 fps that are pushed as fast as they are taken, none of them lost; 0: none.
    var fast = 0
    /// The index of the pushed picture before which the recording starts.
    var startBefore = 0

    /// Whether media comes encoded, and nothing else is recorded.
    var isCopy = false
    var hasPictures = true
    var hasSound = true
    /// Whether whoever hands a frame over waits for room, rather than the oldest giving way.
    var waits = false
    /// Seconds that are kept before the start; 0: none.
    var preRoll = 0.0
    /// Seconds of one file, and how many are kept; 0: one file.
    var segment = 0.0
    var keep = 0
    /// Bits in a second; 0: the encoder's quality.
    var bitrate = 0
    var stallTimeout = 10.0
    /// Bytes; negative: the default.
    var reserve = -1
    /// Bytes that one file may have, by RLIMIT_FSIZE; 0: any.
    var sizeLimit = 0

    /// A picture that is pushed.
    struct Picture: Codable, Sendable {
        /// Seconds; none: it carries no time.
        var time: Double?
        var width = 320
        var height = 240
        var format = "I420"
    }

    /// Pictures at the pace of a camera from `first` seconds on.
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

/// What a victim tells about itself, where it lives to.
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
    /// Why the bridge ended; none where there was none.
    var bridgeEnded: String?
    /// Whether the end threw.
    var hasThrown = false
    var offered = 0
    var written = 0
    /// Pictures that stood in for others.
    var repeated = 0
    var dropped: [String: Int] = [:]
    var files: [File] = []
    /// Frames that the second output got, and those that gave way in its queue: the machine was busy.
    var preview = 0
    var previewEvicted = 0
    /// Between the wish to stop and the end.
    var stopSeconds = 0.0
    /// Pushed pictures that found the pool empty.
    var starved = 0
    var events: [String] = []

    /// Whether every frame is accounted for.
    var addsUp: Bool { offered + repeated == written + dropped.values.reduce(0, +) }
}
