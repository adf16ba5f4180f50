/// Converts the timestamps of one source to the engine's running time.
package protocol SourceTiming: Sendable {
    init(isOffline: Bool)
    var isOffline: Bool { get }
    /// Whether the frames come from a live capture on the engine's clock; `nil` before the first.
    var isLive: Bool? { get set }
    /// The present offset from the source's time to the engine's.
    var offsetNow: MediaTime { get }
    /// Whether the source delivers more slowly than its timestamps say, so that its frames are given
    /// later times.
    var isSlow: Bool { get }

    /// Converts the timestamp of one frame.
    ///
    /// - Parameters:
    ///   - base: The time base that the source's video and audio share; `nil` if it has none.
    ///   - moment: The state of the engine and the track.
    mutating func judge(
        _ stamp: SourceClock.Stamp, _ needsPacing: Bool, _ base: MediaTimeBase?,
        at moment: SourceClock.Moment
    ) -> SourceClock.Verdict
}

extension SourceTiming {
    package var isSlow: Bool { false }

    /// Returns the capture time of a live capture's frame in the engine's time; `nil` for a frame whose
    /// time is not that of the engine's clock.
    mutating func captureTime(
        _ time: MediaTime, _ live: LiveTiming, at moment: SourceClock.Moment
    ) -> MediaTime? {
        let captured = time + live.clockOrigin - moment.origin
        let ahead = captured + (isLive == true ? offsetNow : .zero) - moment.now
        // A capture time in the future comes from a clock other than the engine's.
        guard !isOffline, ahead <= SourceClock.tolerance else { return nil }
        become(live: true)
        return captured
    }

    /// The timestamps of one kind of clock are not comparable with those of the other kind.
    mutating func become(live: Bool) {
        if let isLive, isLive != live { self = Self(isOffline: isOffline) }
        isLive = live
    }
}
