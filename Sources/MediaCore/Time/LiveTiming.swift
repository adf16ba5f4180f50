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

    /// How much later than its running time a receiver plays the frame, to compensate for uneven
    /// network delivery and to keep picture and sound in sync. Zero on frames of a capture. A
    /// display and a loudspeaker add it to the running time; a recording, which need not play in
    /// real time, does not.
    public var playoutDelay: MediaTime

    /// Creates the relation.
    ///
    /// - Parameters:
    ///   - clockOrigin: The time of the shared clock at running time zero.
    ///   - latency: The longest time after its running time at which a frame reaches the program.
    ///   - playoutDelay: How much later a receiver plays the frame. Default zero.
    public init(clockOrigin: MediaTime, latency: MediaTime, playoutDelay: MediaTime = .zero) {
        self.clockOrigin = clockOrigin
        self.latency = latency
        self.playoutDelay = playoutDelay
    }
}
