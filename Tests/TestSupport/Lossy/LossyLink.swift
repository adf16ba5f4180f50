/// How a ``LossyTransport`` impairs frames and units in transit, as a real network would. Events and
/// messages always arrive, in order and at once.
///
/// The same seed and the same frames give the same result.
package struct NetworkImpairment: Sendable {
    /// The fraction of packets that are lost, from 0 to 1. A unit is sent in packets of 1200 bytes,
    /// a frame of pixels or samples in one packet. Default 0.
    package var loss = 0.0
    /// How often a lost packet is sent again, each time one round trip later. A unit or frame is
    /// lost if all attempts for one of its packets fail. Default 0.
    package var resends = 0
    /// The minimum transit time of each packet. Default zero.
    package var delay = Duration.zero
    /// The maximum additional transit time, uniformly distributed. Items that arrive out of order
    /// are reordered. Default zero.
    package var jitter = Duration.zero
    /// The bit rate of each stream, in bits per second; `nil`, the default, for no limit.
    /// Items that would wait longer than ``longestQueue`` are lost.
    package var bitRate: Int?
    /// The maximum time that a packet waits in the queue. Default 300 ms.
    package var longestQueue = Duration.milliseconds(300)
    /// Determines which packets are lost and when each arrives. Default 1.
    package var seed: UInt64 = 1

    /// Creates an impairment that does nothing.
    package init() {}

    /// How long a receiver waits for a missing item before it skips it.
    var patience: Duration {
        jitter + (delay * 2 + jitter) * resends + .milliseconds(10)
    }
}

/// The path of one stream through an impaired network.
struct LossyLink {
    private static let packetSize = 1200
    private(set) var impairment: NetworkImpairment
    private var generator: Generator
    /// When the packets sent so far have left the queue, if the bit rate is limited.
    private var isFreeAt = Duration.zero

    /// - Parameter number: Distinguishes this link from the others of the network.
    init(_ impairment: NetworkImpairment, number: UInt64) {
        self.impairment = impairment
        generator = Generator(state: impairment.seed &* 0x9e37_79b9_7f4a_7c15 &+ number)
    }

    mutating func change(to impairment: NetworkImpairment) { self.impairment = impairment }

    /// Simulates the transmission of a number of bytes at `now`.
    ///
    /// - Returns: The transit time; `nil` if the bytes are lost.
    mutating func send(_ byteCount: Int, at now: Duration) -> Duration? {
        guard let queued = queue(byteCount, at: now) else { return nil }
        var longest = Duration.zero
        for _ in 0..<max(1, (byteCount + Self.packetSize - 1) / Self.packetSize) {
            guard let one = packet() else { return nil }
            longest = max(longest, one)
        }
        return queued + longest
    }

    /// Returns the time in the queue, including the transmission of the bytes; `nil` if it is too
    /// long.
    private mutating func queue(_ byteCount: Int, at now: Duration) -> Duration? {
        guard let bitRate = impairment.bitRate else { return .zero }
        let begin = max(now, isFreeAt)
        guard begin - now <= impairment.longestQueue else { return nil }
        isFreeAt = begin + .seconds(Double(byteCount) * 8 / Double(max(1, bitRate)))
        return isFreeAt - now
    }

    private mutating func packet() -> Duration? {
        var time = Duration.zero
        for _ in 0...max(0, impairment.resends) {
            let isLost =
                impairment.loss > 0 && Double.random(in: 0..<1, using: &generator) < impairment.loss
            let wait = impairment.jitter * Double.random(in: 0...1, using: &generator)
            if !isLost { return time + impairment.delay + wait }
            time += impairment.delay * 2 + wait
        }
        return nil
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
