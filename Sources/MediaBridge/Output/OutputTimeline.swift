internal import Synchronization

/// How running times of captures become the times of one output, for all of its branches alike.
///
/// The first buffer decides. From a live capture: the output's zero is that moment on the shared clock,
/// so that the output is in step however early or late it was started, and a recording begins at zero.
/// From a file or the program's own frames: times are kept as they are, and the output keeps its own
/// pace.
final class OutputTimeline: Sendable {
    private enum Zero: Sendable {
        case undecided
        /// Running times of a file, less this.
        case offline(offset: MediaTime)
        /// The shared clock's time at the output's zero.
        case live(clockTime: MediaTime)
    }
    private let zero = Mutex<Zero>(.undecided)
    private let origin: PipelineVideoSink.TimeOrigin
    private let pipeline: Pipeline
    let streams: Int

    /// - Parameter streams: How many streams the output takes.
    init(_ pipeline: Pipeline, origin: PipelineVideoSink.TimeOrigin, streams: Int) {
        self.pipeline = pipeline
        self.origin = origin
        self.streams = streams
    }

    func reset() { zero.withLock { $0 = .undecided } }

    /// What a branch adds to running times; `nil` before the first buffer decided.
    ///
    /// - Returns: The offset, fixed for the branch: a capture's clock does not move.
    func offset(first time: MediaTime, _ live: LiveTiming?) -> MediaTime {
        let (zero, isFirst) = self.zero.withLock { zero -> (Zero, Bool) in
            guard case .undecided = zero else { return (zero, false) }
            if let live {
                zero = .live(clockTime: live.clockOrigin + (startsWithCapture(time) ? .zero : time))
            } else {
                zero = .offline(offset: origin == .firstFrame ? time : .zero)
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

    /// Where several streams begin together, the first to arrive is not always the earliest: zero is
    /// where their captures began, so that nothing lies before it.
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
