/// The contents of an RTCP packet: reports on sent media, and on the peer's media.
///
/// Source: RFC 3550 (reports), RFC 4585 (feedback), draft-alvestrand-rmcat-remb-03 (REMB).
struct ControlPacket: Hashable, Sendable {
    /// How one stream arrived at the peer.
    struct Report: Hashable, Sendable {
        /// The stream's source.
        var source: UInt32
        /// The fraction of packets lost since the last report, from 0 to 1.
        var lostFraction: Double
        /// The total number of lost packets.
        var lost: Int
        /// The highest received sequence number, extended beyond 65535.
        var highest: UInt32
        /// The interarrival jitter, in units of the stream's clock.
        var jitter: UInt32
        /// The timestamp of the last sender report that the peer received, and the time since then;
        /// in units of 1/65536 s. Zero if there was none.
        var lastReport: UInt32, sinceLastReport: UInt32
    }
    /// Receiver reports, one per source.
    var reports: [Report] = []
    /// The peer's estimate of the network's capacity in bits per second (REMB); `nil` without one.
    var estimate: Int?
    /// The number of packets that the peer requests again (NACK).
    var resendRequests = 0
    /// Whether the peer requests a keyframe.
    var asksForKeyFrame = false

    /// Parses a compound packet up to its first malformed part.
    init(_ bytes: [UInt8]) {
        var at = 0
        while at + 4 <= bytes.count, bytes[at] >> 6 == 2 {
            let end = at + 4 + 4 * Self.number(bytes, at + 2, 2)
            guard end <= bytes.count else { return }
            read(bytes[at..<end], count: Int(bytes[at] & 0x1f), type: bytes[at + 1])
            at = end
        }
    }

    private mutating func read(_ packet: ArraySlice<UInt8>, count: Int, type: UInt8) {
        let bytes = Array(packet)
        switch (type, count) {
        case (200, _): readReports(bytes, from: 28, count)
        case (201, _): readReports(bytes, from: 8, count)
        case (205, 1):
            for at in stride(from: 12, to: bytes.count - 3, by: 4) {
                resendRequests += 1 + Self.number(bytes, at + 2, 2).nonzeroBitCount
            }
        case (206, 1), (206, 4): asksForKeyFrame = true
        case (206, 15): readEstimate(bytes)
        default: break
        }
    }

    private mutating func readReports(_ bytes: [UInt8], from first: Int, _ count: Int) {
        for index in 0..<count {
            let at = first + 24 * index
            guard at + 24 <= bytes.count else { return }
            reports.append(
                Report(
                    source: UInt32(Self.number(bytes, at, 4)),
                    lostFraction: Double(bytes[at + 4]) / 256,
                    // A signed number of 24 bits: duplicates make it negative.
                    lost: max(0, (Self.number(bytes, at + 5, 3) << 40) >> 40),
                    highest: UInt32(Self.number(bytes, at + 8, 4)),
                    jitter: UInt32(Self.number(bytes, at + 12, 4)),
                    lastReport: UInt32(Self.number(bytes, at + 16, 4)),
                    sinceLastReport: UInt32(Self.number(bytes, at + 20, 4))))
        }
    }

    private mutating func readEstimate(_ bytes: [UInt8]) {
        guard bytes.count >= 20, bytes[12..<16].elementsEqual(Array("REMB".utf8)) else { return }
        let exponent = Int(bytes[17] >> 2)
        let mantissa = Int(bytes[17] & 3) << 16 | Self.number(bytes, 18, 2)
        estimate = exponent < 40 ? mantissa << exponent : .max
    }

    private static func number(_ bytes: [UInt8], _ at: Int, _ count: Int) -> Int {
        bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
