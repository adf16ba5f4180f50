internal import Synchronization

/// Maps the running times of captures to the times of one output, equally for all of its branches.
///
/// The first buffer decides. If it comes from a live capture, the output's time zero is that moment
/// on the shared clock: so the output is in sync however early or late it was started, and a
/// recording begins at zero. If it comes from a file or from the program, times are kept as they
/// are, and the output paces itself.
final class OutputTimeline: Sendable {
    private enum Zero: Sendable {
        case undecided
        /// Output times are the running times of a file minus `offset`.
        case offline(offset: MediaTime)
        /// Time of the shared clock at the output's time zero.
        case live(clockTime: MediaTime)
    }
    private let zero = Mutex<Zero>(.undecided)
    private let origin: PipelineSink.TimeOrigin
    private let pipeline: Pipeline
    let streams: Int

    /// - Parameter streams: Number of streams that the output takes.
    init(_ pipeline: Pipeline, origin: PipelineSink.TimeOrigin, streams: Int) {
        self.pipeline = pipeline
        self.origin = origin
        self.streams = streams
    }

    func reset() { zero.withLock { $0 = .undecided } }

    /// Returns the offset that a branch adds to running times. The first call, with the first
    /// buffer, decides the output's time zero.
    ///
    /// - Parameter isReferred: Whether later buffers refer to this one, so that it is kept although its time is
    ///   negative.
    /// - Returns: The offset. It is constant for the branch, because a capture's clock does not
    ///   move.
    func offset(
        first time: MediaTime, _ live: LiveTiming?, isReferred: Bool = false
    ) -> MediaTime {
        let (zero, isFirst) = self.zero.withLock { zero -> (Zero, Bool) in
            guard case .undecided = zero else { return (zero, false) }
            if let live {
                zero = .live(clockTime: live.clockOrigin + (startsWithCapture(time) ? .zero : time))
            } else {
                let early = isReferred ? min(time, .zero) : .zero
                zero = .offline(offset: origin == .firstFrame ? time : early)
            }
            return (zero, true)
        }
        if isFirst { settle(zero, live) }
        switch (zero, live) {
        case (.live(let clockTime), let live?): return live.clockOrigin - clockTime
        case (.live(let clockTime), nil):
            // A file joins a live output: its first frame is due now.
            return MediaTime(SharedClock.now) - clockTime - time
        case (.offline(let offset), nil): return .zero - offset
        case (.offline, _): return .zero - time
        case (.undecided, _): return .zero
        }
    }

    /// Whether time zero is the start of the capture, not its first buffer. If several streams
    /// begin together, the first buffer to arrive is not always the earliest, and no buffer may lie
    /// before zero.
    private func startsWithCapture(_ time: MediaTime) -> Bool {
        streams > 1 && time < MediaTime(seconds: 2)
    }

    /// Runs on the thread of the first buffer, before that buffer is in the pipeline: nothing has
    /// prerolled yet.
    private func settle(_ zero: Zero, _ live: LiveTiming?) {
        if case .live(let clockTime) = zero, let base = ClockTime(clockTime) {
            pipeline.setBaseTime(base)
            if let live, let latency = ClockTime(live.latency) { pipeline.setLatency(latency) }
        } else {
            pipeline.setBaseTimeToNowIfPlaying()
        }
    }
}

/// Decides how much may wait in front of an output.
struct OutputQueueDepth: Sendable {
    /// The configured limit; `nil`: it depends on the buffers' caps.
    let configured: QueueLimit?
    /// Whether the output takes several streams: its muxer waits for the others, so a queue fills
    /// although no buffer is late.
    var isOfSeveral = false

    /// The limit before the caps are known, and of raw video from a live capture.
    static let least = QueueLimit(buffers: fewest)
    private static let fewest = 4
    private static let most = 16
    private static let memory = 64_000_000
    /// Seconds of live sound that may wait for pictures: those of an encoder that looks ahead come
    /// seconds later.
    private static let lead = 10

    /// - Parameter isLive: Whether the oldest buffer is evicted, so that a deep queue of raw
    ///   buffers would only add latency.
    func limit(for caps: Caps, isLive: Bool) -> QueueLimit {
        if var limit = configured {
            // Buffers without times have no other limit than their number.
            limit.buffers = max(1, limit.buffers ?? QueueDepth.encoded)
            if caps.isSound { limit.buffers = max(limit.buffers ?? 0, QueueDepth.sound) }
            return limit
        }
        if isLive, !caps.isRaw {
            return QueueLimit(buffers: QueueDepth.encoded, bytes: Self.memory)
        }
        if isLive, isOfSeveral, let info = AudioInfo(caps) {
            let bytes = Self.lead * info.rate * info.bytesPerFrame
            return QueueLimit(buffers: QueueDepth.encoded, bytes: bytes)
        }
        if caps.isSound { return QueueLimit(buffers: QueueDepth.sound) }
        guard !isLive || isOfSeveral, let info = VideoInfo(caps) else { return Self.least }
        let fitting = Self.memory / max(1, info.byteCount)
        return QueueLimit(buffers: min(Self.most, max(Self.fewest, fitting)))
    }
}

/// Guesses how long frames last that do not say it.
struct FrameIntervals: Sendable {
    private var last: MediaTime?
    private var interval: MediaTime?

    /// Notes the next frame.
    ///
    /// - Returns: The shorter of the last two intervals, because a frame after a gap does not last
    ///   as long as the gap. `nil` for parts of one encoded frame, which have the same time.
    mutating func next(at time: MediaTime) -> MediaTime? {
        defer { last = time }
        guard let last, time > last else { return nil }
        let (before, now) = (interval, time - last)
        interval = now
        return min(before ?? now, now)
    }
}
