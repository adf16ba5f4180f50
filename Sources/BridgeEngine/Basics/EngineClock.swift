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

    /// Returns the timing of a frame of a source with this latency.
    func liveTiming(_ latency: MediaTime) -> LiveTiming {
        LiveTiming(clockOrigin: origin, latency: max(latency, self.latency))
    }

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
            guard isOffline, disposition == .dropped(.queueFull),
                room.wait(for: end - timeline.now, on: timeline)
            else { return disposition }
        }
    }
}

// MARK: Stalls

/// Detects the start and the end of a stall and reports each once. The time between two checks does
/// not matter: a stall that ended and began again between them is reported as both changes.
package struct StallWatch: Sendable {
    package enum Change: Sendable { case stalled, resumed }
    /// The start of the stall that was reported; `nil` if none was.
    private var stalledSince: MediaTime?
    /// The count at the last check.
    private var count: Int?

    package init() {}

    package var isStalled: Bool { stalledSince != nil }

    /// Checks for a stall.
    ///
    /// - Parameter since: The time of the last progress; `nil` if no progress is expected.
    /// - Returns: The changes since the last check, in order.
    mutating func look(since: MediaTime?, now: MediaTime, limit: MediaTime) -> [Change] {
        var changes: [Change] = []
        let hasStalled = since.map { now - $0 > limit } ?? false
        if let stalledSince, !hasStalled || stalledSince != since {
            self.stalledSince = nil
            changes.append(.resumed)
        }
        if hasStalled, stalledSince == nil {
            stalledSince = since
            changes.append(.stalled)
        }
        return changes
    }

    mutating func reset() { stalledSince = nil }

    /// Checks for a stall, for callers that check at intervals as long as a stall: nothing has been
    /// counted since the last check.
    ///
    /// - Parameters:
    ///   - count: A count that changes with every progress.
    ///   - isWaiting: Whether progress is expected.
    package mutating func look(count: Int, isWaiting: Bool = true) -> Change? {
        let hasStalled = isWaiting && count == self.count
        self.count = count
        guard hasStalled != isStalled else { return nil }
        stalledSince = hasStalled ? .zero : nil
        return hasStalled ? .stalled : .resumed
    }
}
