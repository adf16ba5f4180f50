internal import MediaBasics
internal import Synchronization

/// A pipeline that encodes one stream of one format: raw buffers in, encoded units out. Where a stream
/// comes encoded, it only parses: units in, units out.
///
/// Units are delivered on the pipeline's streaming thread, which the receiver may block. The queue
/// of raw buffers in front of the encoder then fills up: for a live stream the oldest buffers are
/// evicted, any other caller waits. So a slow disk drops whole pictures, never parts of encoded
/// ones.
final class TrackEncoder: Sendable {
    private let output: Output
    private let branch: OutputBranch
    private let units: AppSink
    private let end: Ending

    /// - Parameters:
    ///   - inbox: Receives the units on the streaming thread, and the end once, also after an error.
    ///   - generation: The number of this encoder.
    init(
        _ kind: MediaKind, recipe: UnitPipeline, caps: Caps, inbox: RecordingInbox,
        generation: Int
    ) throws(PipelineError) {
        var configuration = PipelineVideoSink.Configuration()
        configuration.queue =
            recipe.isCopy
            ? QueueDepth.copied : OutputQueueDepth(configured: nil).limit(for: caps, isLive: false)
        let output = try Output(recipe.text, configuration: configuration)
        guard let branch = output.branches[kind.rawValue],
            let units = output.pipeline.appSinks["units"]
        else {
            throw PipelineError(
                .wrongEnds, message: "the encoder's pipeline has no appsrc or no appsink")
        }
        self.output = output
        self.branch = branch
        self.units = units
        units.configure(depth: 4, isPaced: false)
        output.pipeline.element(named: Pad.adtsWriter)?.pad("sink")?.describeAACChannels()
        if let interval = recipe.keyFrameInterval.flatMap({ ClockTime($0) }) {
            branch.source.forceKeyFrames(every: interval)
        }
        let end = Ending { inbox.put(.ended(kind, generation: generation, $0)) }
        self.end = end
        let reader = UnitReader(
            kind, from: units, hiddenDelay: recipe.hiddenDelay, isCopy: recipe.isCopy,
            clock: inbox.clock)
        // The sink and its handlers retain each other until the handlers are removed.
        units.setHandlers(
            onSample: {
                if let unit = reader.pull() { inbox.put(unit, generation: generation) }
                return true
            },
            onEnd: { end.notify(nil) })
        output.failsForFormat()
        output.pipeline.onFirstError { end.notify($0) }
    }

    /// Reports the end once.
    private final class Ending: Sendable {
        private let isReported = Atomic<Bool>(false)
        private let receiver: @Sendable (PipelineError?) -> Void

        init(notify: @escaping @Sendable (PipelineError?) -> Void) { receiver = notify }

        func notify(_ error: PipelineError?) {
            guard !isReported.exchange(true, ordering: .acquiringAndReleasing) else { return }
            receiver(error)
        }
    }

    deinit { units.removeHandlers() }

    /// Accepts buffers from here on. The pipeline starts asynchronously; if it cannot, the inbox gets
    /// the error.
    func start() {
        output.prepare()
        output.pipeline.requestState(.playing) { [end] error in
            if let error { end.notify(error) }
        }
    }

    /// Pushes a buffer.
    ///
    /// - Parameters:
    ///   - time: The buffer's time in the recorder's own time.
    ///   - evicts: Whether the oldest queued buffer is evicted if the encoder is slow; otherwise
    ///     this blocks.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime, duration: MediaTime?, evicts: Bool
    ) -> FrameDisposition {
        // `time` already includes the live timing.
        branch.push(
            buffer, caps: caps, time: time, duration: duration, live: nil, evicts: evicts)
    }

    /// Whether a buffer is accepted without blocking and without an eviction.
    var hasRoom: Bool { branch.hasRoom }

    /// Suspends until a buffer is accepted without blocking, or until the encoder is closed.
    func untilRoom() async throws { try await branch.untilRoom() }

    /// Makes the first picture from a time on a key frame.
    func forceKeyFrame(from time: MediaTime) {
        if let time = ClockTime(time) { branch.source.forceKeyFrame(from: time) }
    }

    /// Signals the end of the stream; units still inside the encoder are delivered.
    func endOfStream() { branch.endOfStream() }

    /// Waits until the last unit was delivered, and shuts the pipeline down.
    ///
    /// - Parameter stallTimeout: The longest time without a unit being delivered.
    func finish(stallTimeout: Duration) async throws(PipelineError) {
        try await output.finish(stallTimeout: stallTimeout)
    }

    /// Unblocks callers that wait for room.
    func close() { output.close() }

    /// Buffers that were evicted or refused.
    var drops: DropCounts { branch.drops }
}

// MARK: - Units

/// One unit of encoded media: one picture, or a few milliseconds of audio.
final class EncodedUnit: Sendable {
    let kind: MediaKind
    let buffer: Buffer
    let caps: Caps
    /// When the unit is decoded, in the recorder's own time: units are written in this order.
    let time: MediaTime
    /// When the unit is presented; may differ from the encoder's timestamp. Later than ``time``
    /// where an encoder reorders pictures (B-frames).
    let presented: MediaTime
    let duration: MediaTime?
    /// Whether a file may begin with the unit, because it references no earlier one.
    let isKey: Bool
    let byteCount: Int
    /// Whether it is the encoder's first unit.
    let isFirst: Bool
    /// Whether it is recorded unchanged: missing media is not replaced.
    let isCopy: Bool
    /// When the encoder delivered it, on the recorder's timeline.
    let arrival: Duration

    init(
        _ kind: MediaKind, _ buffer: consuming Buffer, caps: Caps, time: MediaTime,
        presented: MediaTime? = nil, isFirst: Bool, isKey: Bool? = nil, isCopy: Bool = false,
        arrival: Duration
    ) {
        self.kind = kind
        self.caps = caps
        self.time = time
        self.presented = presented ?? time
        self.isFirst = isFirst
        self.isCopy = isCopy
        self.arrival = arrival
        duration = buffer.duration.map { MediaTime($0) }
        self.isKey = isKey ?? (kind == .audio || !buffer.isDelta)
        byteCount = buffer.byteCount
        self.buffer = buffer
    }

    /// Bytes of memory that the unit occupies, with an allowance for its overhead, which dominates
    /// for small units.
    var cost: Int { byteCount + 1_000 }

    /// The end of the unit; equal to its time if its duration is unknown.
    var end: MediaTime { time + (duration ?? .zero) }
}

/// Reads the appsink behind an encoder or parser, and determines the true times of each unit.
private final class UnitReader: Sendable {
    private let kind: MediaKind
    private let sink: AppSink
    private let hiddenDelay: Int
    private let isCopy: Bool
    private let clock: any Timeline

    private struct State {
        var isFirst = true
        var caps: Caps?
        /// How much earlier than its timestamp a unit is heard.
        var advance = MediaTime.zero
        var isHidden = false
        var last: MediaTime?
        var intervals = FrameIntervals()
    }
    private let state = Mutex(State())

    /// Shorter durations are wrong: a parser without a frame rate reports that a picture lasts a
    /// nanosecond.
    private static let shortest = ClockTime(nanoseconds: 1_000)

    /// The minimum distance between two pictures: longer than the time unit of every container but
    /// Matroska.
    private static let step = MediaTime(nanoseconds: 100_000)

    /// - Parameters:
    ///   - hiddenDelay: Samples that the encoder inserts at the beginning without reporting it.
    ///   - isCopy: Whether the units are recorded as they came: their times are right, and may be
    ///     those of reordered pictures.
    ///   - clock: Measures when units arrive.
    init(
        _ kind: MediaKind, from sink: AppSink, hiddenDelay: Int, isCopy: Bool,
        clock: any Timeline
    ) {
        self.kind = kind
        self.sink = sink
        self.hiddenDelay = hiddenDelay
        self.isCopy = isCopy
        self.clock = clock
    }

    /// Returns the next unit; `nil` if the sample is not a unit. Thread: the streaming thread.
    func pull() -> EncodedUnit? {
        guard let sample = sink.tryPull() else { return nil }
        let identity = sample.capsIdentity
        guard let due = time(of: sample) else { return nil }
        // A unit is never decoded after it is presented.
        let decoded =
            isCopy
            ? sample.decodingRunningTime.map { min(due, MediaTime(nanoseconds: $0)) } ?? due : due
        let (caps, advance, isFirst, isPriming, interval) = state.withLock { state in
            defer { state.last = due }
            if state.caps?.identity != identity { change(&state, to: sample.caps) }
            let isFirst = state.isFirst
            return (
                state.caps, state.advance, isFirst, isFirst && state.isHidden,
                state.intervals.next(at: due)
            )
        }
        guard let caps, var buffer = sample.takeBuffer() else { return nil }
        // The muxer takes the headers from the caps.
        if kind == .audio, buffer.isHeader { return nil }
        state.withLock { $0.isFirst = false }
        // The unit contains only the silence that the encoder inserted.
        if isPriming { return nil }
        if kind == .video, let stated = buffer.duration, stated < Self.shortest {
            buffer = buffer.withOwnHeader()
            buffer.duration = interval.flatMap { ClockTime($0) }
        }
        return EncodedUnit(
            kind, buffer, caps: caps, time: decoded - advance, presented: due - advance,
            isFirst: isFirst, isCopy: isCopy, arrival: clock.now)
    }

    /// Returns the time of a sample; for video, always later than the previous picture. If two
    /// pictures have the same time, a parser removes it from the second; and if two coincide at the
    /// end of an mp4 fragment, players show only one.
    private func time(of sample: borrowing Sample) -> MediaTime? {
        let stated = sample.runningTime.map { MediaTime(nanoseconds: $0) }
        guard kind == .video, !isCopy, let last = state.withLock({ $0.last }) else { return stated }
        return max(stated ?? last, last + Self.step)
    }

    private func change(_ state: inout State, to caps: Caps?) {
        state.caps = caps
        guard kind == .audio, let rate = caps?.soundFormat.rate else { return }
        if hiddenDelay > 0, rate > 0 {
            state.isHidden = true
            state.advance = MediaTime(value: Int64(hiddenDelay), timescale: Int32(clamping: rate))
        }
    }
}
