/// What a loopback network does to frames and units on their way, as a real network would. Events and
/// messages always arrive, in order and at once.
///
/// The same seed and the same frames have the same fate.
public struct LoopbackImpairment: Hashable, Sendable {
    /// The share of the packets that are lost, from 0 to 1. A unit is sent in packets of 1200 bytes, a
    /// frame of pixels or samples in one. Default 0.
    public var loss = 0.0
    /// How often a lost packet is sent again, a round trip later each time. What lost one packet for good
    /// is lost. Default 0.
    public var resends = 0
    /// How long each packet is on its way at least. Default zero.
    public var delay = Duration.zero
    /// How much longer it is at most; each length is equally likely. What arrives in another order is put
    /// in order again. Default zero.
    public var jitter = Duration.zero
    /// Bits per second from one user to another; `nil`, the default, for any number. What would wait for
    /// longer than ``longestQueue`` is lost.
    public var bitRate: Int?
    /// How long a packet waits for its turn at most. Default 300 ms.
    public var longestQueue = Duration.milliseconds(300)
    /// Determines which packets are lost and when each arrives. Default 1.
    public var seed: UInt64 = 1

    /// Creates an impairment that does nothing.
    public init() {}

    /// How long a receiver waits for what is missing before it gives up.
    var patience: Duration {
        jitter + (delay * 2 + jitter) * resends + .milliseconds(10)
    }
}
