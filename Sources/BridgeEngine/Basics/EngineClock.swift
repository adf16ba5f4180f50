internal import MediaBasics
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
    /// The time of deadlines, delays and periodic work.
    let timeline: any Timeline

    init(
        _ backend: any MediaBackend, isOffline: Bool, latency: MediaTime,
        timeline: any Timeline = .system
    ) {
        clockTime = { backend.clockTime() }
        origin = backend.clockTime()
        self.isOffline = isOffline
        self.latency = latency
        self.timeline = timeline
    }

    /// The current running time.
    var now: MediaTime { clockTime() - origin }

    /// Hands a frame to a codec. If time comes only from the sources, it waits while the codec is
    /// full.
    ///
    /// - Parameters:
    ///   - limit: The longest wait.
    ///   - room: Signalled when the codec may have room again.
    func offer(
        for limit: Duration, room: MonotonicSignal, _ attempt: () -> FrameDisposition
    ) -> FrameDisposition {
        let end = timeline.now + limit
        while true {
            let disposition = attempt()
            guard isOffline, disposition == .queueFull,
                room.wait(for: end - timeline.now, on: timeline)
            else { return disposition }
        }
    }
}
