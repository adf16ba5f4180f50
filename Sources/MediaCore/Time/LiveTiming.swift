/// The relation between a live capture's running time and the clock that all pipelines share.
///
/// Frames of a live capture have it. Frames of a file do not, because a file has no capture time.
/// An output uses it to stay in sync with the capture, whenever the output was started.
public struct LiveTiming: Hashable, Sendable {
    /// The time of the shared clock at running time zero of the capture.
    public var clockOrigin: MediaTime

    /// The longest time after its running time at which a frame reaches the program, as the
    /// capture's elements declare it (a camera: one frame interval). A display delays frames by
    /// this much.
    public var latency: MediaTime

    /// Creates the relation from the clock time of running time zero and the latency.
    public init(clockOrigin: MediaTime, latency: MediaTime) {
        self.clockOrigin = clockOrigin
        self.latency = latency
    }
}
