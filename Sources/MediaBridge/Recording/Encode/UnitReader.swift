internal import MediaBasics
internal import Synchronization

/// Reads the appsink behind an encoder or parser, and determines the true times of each unit.
final class UnitReader: Sendable {
    private let kind: RecordingKind
    private let sink: AppSink
    private let hiddenDelay: Int
    private let isCopy: Bool
    private let clock: any Timeline

    private struct State {
        var isFirst = true
        var capsIdentity: UInt?
        var caps: Caps?
        /// How much earlier than its timestamp a unit is heard.
        var advance = MediaTime.zero
        var isHidden = false
        var last: MediaTime?
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
        _ kind: RecordingKind, from sink: AppSink, hiddenDelay: Int, isCopy: Bool,
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
            if state.capsIdentity != identity { change(&state, to: sample.caps) }
            let isFirst = state.isFirst
            return (
                state.caps, state.advance, isFirst, isFirst && state.isHidden,
                state.last.map { due - $0 }.flatMap { $0 > .zero ? $0 : nil }
            )
        }
        guard let caps, var buffer = sample.takeBuffer() else { return nil }
        // The muxer takes the headers from the caps.
        if kind == .audio, buffer.isHeader { return nil }
        state.withLock { $0.isFirst = false }
        // The unit contains only the silence that the encoder inserted.
        if isPriming { return nil }
        if kind == .video, let said = buffer.duration, said < Self.shortest {
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
        let said = sample.runningTime.map { MediaTime(nanoseconds: $0) }
        guard kind == .video, !isCopy, let last = state.withLock({ $0.last }) else { return said }
        return max(said ?? last, last + Self.step)
    }

    private func change(_ state: inout State, to caps: Caps?) {
        state.capsIdentity = caps?.identity
        state.caps = caps
        guard kind == .audio, let caps else { return }
        let rate = caps.soundLayout.rate
        if hiddenDelay > 0, rate > 0 {
            state.isHidden = true
            state.advance = MediaTime(value: Int64(hiddenDelay), timescale: Int32(clamping: rate))
        }
    }
}

/// The pipeline that makes a stream's units, and what to know of it.
struct UnitPipeline: Sendable {
    /// The complete string, from an appsrc to an appsink named units.
    let text: String
    /// The codec's name, for reports: `h264`.
    let codec: String
    /// The encoder's factory name, for reports; `copy` for units that are recorded as they came.
    let element: String
    /// The longest time between two key frames that the encoder is asked for; `nil` without one.
    let keyFrameInterval: MediaTime?
    /// See ``AudioEncoderElement/hiddenDelay``.
    let hiddenDelay: Int
    /// Whether the units are recorded as they came.
    let isCopy: Bool
    /// See ``RecorderReport/Track/converted``.
    var converted: String?
}
