/// How a loopback network impairs frames and units in transit, as a real network would. Events and
/// messages always arrive, in order and at once.
///
/// The same seed and the same frames give the same result.
public struct LoopbackImpairment: Hashable, Sendable {
    /// The fraction of packets that are lost, from 0 to 1. A unit is sent in packets of 1200 bytes,
    /// a frame of pixels or samples in one packet. Default 0.
    public var loss = 0.0
    /// How often a lost packet is sent again, each time one round trip later. A unit or frame is
    /// lost if all attempts for one of its packets fail. Default 0.
    public var resends = 0
    /// The minimum transit time of each packet. Default zero.
    public var delay = Duration.zero
    /// The maximum additional transit time, uniformly distributed. Items that arrive out of order
    /// are reordered. Default zero.
    public var jitter = Duration.zero
    /// The bit rate from one user to another, in bits per second; `nil`, the default, for no limit.
    /// Items that would wait longer than ``longestQueue`` are lost.
    public var bitRate: Int?
    /// The maximum time that a packet waits in the queue. Default 300 ms.
    public var longestQueue = Duration.milliseconds(300)
    /// Determines which packets are lost and when each arrives. Default 1.
    public var seed: UInt64 = 1

    /// Creates an impairment that does nothing.
    public init() {}

    /// How long a receiver waits for a missing item before it skips it.
    var patience: Duration {
        jitter + (delay * 2 + jitter) * resends + .milliseconds(10)
    }
}
