internal import MediaCore

/// The engine's running time. It is zero when the engine is created and follows the backend's
/// clock.
struct EngineClock: Sendable {
    /// Returns the current time of the backend's clock.
    let clockTime: @Sendable () -> MediaTime
    /// The time of the backend's clock at running time zero.
    let origin: MediaTime
    /// Whether sources run as fast as they can, so that time comes only from the sources'
    /// timestamps.
    let isOffline: Bool
    /// The minimum latency that displays apply, so that a source with another latency can take
    /// over.
    let latency: MediaTime

    init(_ backend: any MediaBackend, isOffline: Bool, latency: MediaTime) {
        clockTime = { backend.clockTime() }
        origin = backend.clockTime()
        self.isOffline = isOffline
        self.latency = latency
    }

    /// The current running time.
    var now: MediaTime { clockTime() - origin }
}
