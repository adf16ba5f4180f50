/// How a live capture's running time relates to the clock that all pipelines share.
///
/// Frames of a live capture carry it, frames of a file do not: a file has no moment at which it
/// happens. An output uses it to stay in step with the capture whenever the output was started.
public struct LiveTiming: Hashable, Sendable {
    /// The shared clock's time at the capture's running time zero.
    public var clockOrigin: MediaTime

    /// How long after its running time a frame reaches the program at the latest, as the capture's
    /// elements declare it (a camera: one frame interval). A display waits this long.
    public var latency: MediaTime

    public init(clockOrigin: MediaTime, latency: MediaTime) {
        self.clockOrigin = clockOrigin
        self.latency = latency
    }
}
