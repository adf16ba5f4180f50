internal import MediaBasics
internal import MediaCore

/// A track and its source.
struct TrackSlot {
    let track: LocalTrack
    /// The running source; `nil` if none is running.
    var host: VideoSourceHost?
    /// Whether the source has ended. If so, it is not reported as stalled.
    var hasEnded = false
    /// Whether the source has failed since it was started.
    var hasFailed = false
    var watch = StallWatch()
    var fallback: Heartbeat?
    /// The push source of a custom track; `nil` for the main track.
    var pushHost: VideoSourceHost?
    /// The operation that waits for the first frame of this port.
    var awaiting: (port: VideoSourcePort, once: Once<Bool>)?
    var restarts = Restarts()
    /// The channel's limit for the track.
    var limit = VideoLimit()
    /// The parts of the limit that the source keeps to.
    var kept = VideoLimit()

    init(track: LocalTrack) { self.track = track }

    /// The state of the automatic restarts of a failed source.
    struct Restarts {
        /// Fires at the next attempt.
        var timer: OneShotTimer?
        /// Distinguishes the current timer from earlier ones.
        var number = 0
        var attempts = RestartAttempts()

        mutating func cancel() {
            timer?.cancel()
            (timer, attempts) = (nil, RestartAttempts())
            number += 1
        }
    }
}
