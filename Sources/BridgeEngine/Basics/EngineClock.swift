internal import MediaCore

/// The engine's running time: zero when the engine was made, on the clock of its backend.
struct EngineClock: Sendable {
    /// The clock's own time.
    let clockTime: @Sendable () -> MediaTime
    /// The clock's time at running time zero.
    let origin: MediaTime
    /// Whether sources run as fast as they can, and time is the sources' alone.
    let isOffline: Bool
    /// The least that displays wait, so that a source of another latency can take over.
    let latency: MediaTime

    init(_ backend: any MediaBackend, isOffline: Bool, latency: MediaTime) {
        clockTime = { backend.clockTime() }
        origin = backend.clockTime()
        self.isOffline = isOffline
        self.latency = latency
    }

    /// Running time.
    var now: MediaTime { clockTime() - origin }
}
