internal import Synchronization

/// Reads an encoder's appsink, and finds out when each unit is really seen or heard.
final class UnitReader: Sendable {
    private let kind: RecordingKind
    private let sink: AppSink
    private let hiddenDelay: Int

    private struct State {
        var isFirst = true
        var capsIdentity: UInt?
        var caps: Caps?
        /// How much earlier a unit is heard than its time says.
        var advance = MediaTime.zero
        var isHidden = false
        var last: MediaTime?
    }
    private let state = Mutex(State())

    /// A parser that knows no frame rate says that a picture lasts a nanosecond.
    private static let shortest = ClockTime(nanoseconds: 1_000)

    /// From one picture to the next at least: more than the unit of any container's times but Matroska's.
    private static let step = MediaTime(nanoseconds: 100_000)

    /// - Parameter hiddenDelay: Samples that the encoder puts in front and tells nobody of.
    init(_ kind: RecordingKind, from sink: AppSink, hiddenDelay: Int) {
        self.kind = kind
        self.sink = sink
        self.hiddenDelay = hiddenDelay
    }

    /// The unit that waits; `nil` for what is none. On the streaming thread.
    func pull() -> EncodedUnit? {
        guard let sample = sink.tryPull() else { return nil }
        let identity = sample.capsIdentity
        guard let due = time(of: sample) else { return nil }
        let (caps, advance, isFirst, isPriming, interval) = state.withLock { state in
            defer { state.last = due }
            if state.capsIdentity != identity { change(&state, to: sample.caps) }
            let isFirst = state.isFirst
            return (
                state.caps, state.advance, isFirst, isFirst && state.isHidden,
                state.last.map { due - $0 }
            )
        }
        guard let caps, var buffer = sample.takeBuffer() else { return nil }
        // The muxer takes these from the caps.
        if kind == .audio, buffer.isHeader { return nil }
        state.withLock { $0.isFirst = false }
        // Nothing but silence that nobody recorded.
        if isPriming { return nil }
        if kind == .video, let said = buffer.duration, said < Self.shortest {
            buffer = buffer.withOwnHeader()
            buffer.duration = interval.flatMap { ClockTime($0) }
        }
        return EncodedUnit(
            kind, buffer, caps: caps, time: due - advance, isFirst: isFirst)
    }

    /// Later than the picture before. Where two have one time, a parser takes it from the second; and
    /// of two in one place, where a fragment of mp4 ends, players show one.
    private func time(of sample: borrowing Sample) -> MediaTime? {
        let said = sample.runningTime.map { MediaTime(nanoseconds: $0) }
        guard kind == .video, let last = state.withLock({ $0.last }) else { return said }
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
