internal import MediaBasics
internal import MediaCore

/// A track and the source it listens to.
struct TrackSlot {
    let track: LocalTrack
    /// The source that runs; `nil` while none does.
    var host: VideoSourceHost?
    /// A source that has ended is not stalled.
    var hasEnded = false
    /// Its source has failed since it was started.
    var hasFailed = false
    var watch = StallWatch()
    var fallback: Heartbeat?
    /// What becomes of a track that is pushed.
    var pushHost: VideoSourceHost?
    /// Who waits for the first frame of this port.
    var awaiting: (port: VideoSourcePort, once: Once<Bool>)?
    var restarts = Restarts()

    init(track: LocalTrack) { self.track = track }

    /// How a source that failed comes back.
    struct Restarts {
        /// Runs until the next attempt.
        var timer: OneShotTimer?
        /// Tells one timer from another.
        var number = 0
        /// Attempts since the source last delivered for a while.
        var attempts = 0
        /// When the latest attempt succeeded, and how many frames the source had delivered before it.
        var resumed: (at: MediaTime, frames: Int)?

        mutating func cancel() {
            timer?.cancel()
            timer = nil
            number += 1
            attempts = 0
            resumed = nil
        }
    }
}
