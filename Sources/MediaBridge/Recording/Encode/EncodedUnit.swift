internal import MediaBasics
internal import Synchronization

/// One unit of encoded media: one picture, or a few milliseconds of audio.
final class EncodedUnit: Sendable {
    let stream: RecordedStream
    var kind: MediaKind { stream.kind }
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
        _ stream: RecordedStream, _ buffer: consuming Buffer, caps: Caps, time: MediaTime,
        presented: MediaTime? = nil, isFirst: Bool, isKey: Bool? = nil, isCopy: Bool = false,
        arrival: Duration
    ) {
        self.stream = stream
        self.caps = caps
        self.time = time
        self.presented = presented ?? time
        self.isFirst = isFirst
        self.isCopy = isCopy
        self.arrival = arrival
        duration = buffer.duration.map { MediaTime($0) }
        self.isKey = isKey ?? (stream.kind == .audio || !buffer.isDelta)
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
final class UnitReader: Sendable {
    private let stream: RecordedStream
    private var kind: MediaKind { stream.kind }
    private let sink: AppSink
    private let hiddenDelay: Int
    private let isCopy: Bool
    private let clock: any Timeline

    private struct State {
        var isFirst = true
        /// Whether an encoder reorders pictures although it was asked not to.
        var isReordered = false
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
        _ stream: RecordedStream, from sink: AppSink, hiddenDelay: Int, isCopy: Bool,
        clock: any Timeline
    ) {
        self.stream = stream
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
            isReordered
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
            stream, buffer, caps: caps, time: decoded - advance, presented: due - advance,
            isFirst: isFirst, isCopy: isCopy, arrival: clock.now)
    }

    /// Returns the time of a sample; for video, always later than the previous picture. If two
    /// pictures have the same time, a parser removes it from the second; and if two coincide at the
    /// end of an mp4 fragment, players show only one.
    private func time(of sample: borrowing Sample) -> MediaTime? {
        let stated = sample.runningTime.map { MediaTime(nanoseconds: $0) }
        guard kind == .video, !isCopy else { return stated }
        let decoded = sample.decodingRunningTime.map { MediaTime(nanoseconds: $0) }
        return state.withLock { state in
            if let stated, let decoded, stated - decoded > Self.step { state.isReordered = true }
            guard !state.isReordered, let last = state.last else { return stated }
            return max(stated ?? last, last + Self.step)
        }
    }

    private var isReordered: Bool { isCopy || state.withLock { $0.isReordered } }

    private func change(_ state: inout State, to caps: Caps?) {
        state.caps = caps
        guard kind == .audio, let rate = caps?.soundFormat.rate else { return }
        if hiddenDelay > 0, rate > 0 {
            state.isHidden = true
            state.advance = MediaTime(value: Int64(hiddenDelay), timescale: Int32(clamping: rate))
        }
    }
}
