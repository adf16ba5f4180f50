internal import Synchronization

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

    fileprivate static func number(_ bytes: [UInt8], _ at: Int, _ count: Int) -> Int {
        bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) }
    }
}

// MARK: - LossWindow

/// The fraction of a stream's packets that the peer has recently reported as lost.
///
/// The fractions of single reports have no meaning, because peers report each loss at once. Packets are therefore
/// counted over several reports.
struct LossWindow {
    /// The length of the window, in seconds.
    static let length = 10.0
    private var marks: [(time: Double, highest: UInt32, lost: Int)] = []

    /// Adds a report.
    ///
    /// - Parameter now: Seconds of any clock that does not jump.
    mutating func note(_ report: ControlPacket.Report, at now: Double) {
        // Ignores a report that another one has overtaken.
        if let last = marks.last, Int32(bitPattern: report.highest &- last.highest) < 0 { return }
        marks.append((now, report.highest, report.lost))
        // The last one before the window stays: later losses are counted from it.
        while marks.count > 2, marks[1].time < now - Self.length { marks.removeFirst() }
    }

    /// Returns the fraction, from 0 to 1; zero without recent reports.
    func share(at now: Double) -> Double {
        guard let first = marks.first, let last = marks.last, now - last.time <= Self.length
        else { return 0 }
        let packets = Double(last.highest &- first.highest)
        return packets > 0 ? min(max(0, Double(last.lost - first.lost) / packets), 1) : 0
    }
}

// MARK: - ReportForJanus

/// Adjusts outgoing receiver reports so that Janus retransmits lost packets.
///
/// Janus 1.1 keeps packets for retransmission only if it knows a round-trip time above zero
/// milliseconds. It takes that time only from the first block of a report, and assigns it to the
/// stream of that block. The blocks about video are therefore moved to the front, and state that
/// the server's report arrived a little later than it did.
///
/// Source: RFC 3550, section 6.4; `janus_rtcp_incoming_rr` and `nack_queue_ms` in Janus.
enum ReportForJanus {
    /// 2 ms in units of 1/65536 s.
    private static let addition: UInt32 = 131
    /// The number of bytes of a report block.
    private static let blockSize = 24

    /// Adjusts a compound packet up to its first malformed part.
    ///
    /// - Parameters:
    ///   - bytes: The packet.
    ///   - isVideo: Returns whether the source with this number (SSRC) sends video.
    static func adjust(
        _ bytes: UnsafeMutableRawBufferPointer, isVideo: (UInt32) -> Bool
    ) {
        var at = 0
        while at + 4 <= bytes.count, bytes[at] >> 6 == 2 {
            let end = at + 4 * (1 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3]))
            guard end <= bytes.count else { return }
            // A receiver report: the number of its source, then the blocks.
            if bytes[at + 1] == 201, at + 8 <= end {
                let count = min(Int(bytes[at] & 0x1f), (end - at - 8) / blockSize)
                let place = at + 8..<at + 8 + count * blockSize
                adjust(UnsafeMutableRawBufferPointer(rebasing: bytes[place]), count, isVideo)
            }
            at = end
        }
    }

    private static func adjust(
        _ bytes: UnsafeMutableRawBufferPointer, _ count: Int, _ isVideo: (UInt32) -> Bool
    ) {
        let blocks = (0..<count).map { Array(bytes[$0 * blockSize..<($0 + 1) * blockSize]) }
        func isAboutVideo(_ block: [UInt8]) -> Bool {
            isVideo(UInt32(ControlPacket.number(block, 0, 4)))
        }
        let sorted = blocks.filter(isAboutVideo) + blocks.filter { !isAboutVideo($0) }
        for (place, var block) in sorted.enumerated() {
            // The time since the last sender report arrived, in units of 1/65536 s.
            let since = UInt32(ControlPacket.number(block, 20, 4))
            withUnsafeBytes(of: (since - min(addition, since)).bigEndian) {
                block.replaceSubrange(20..<24, with: $0)
            }
            UnsafeMutableRawBufferPointer(rebasing: bytes[(place * blockSize)...])
                .copyBytes(from: block)
        }
    }
}

// MARK: - SeenNumbers

/// The transport-wide sequence numbers of the packets that have arrived.
///
/// If a number arrives twice, GStreamer 1.22 writes wrong reports, and can crash or corrupt memory. Numbers arrive
/// twice if the network duplicates packets, or if a server retransmits them under their old numbers.
///
/// Thread: any.
final class SeenNumbers: Sendable {
    private struct State {
        /// The highest number, extended beyond 65535; `nil` before the first packet.
        var highest: Int?
        /// A ring: the element at n modulo ``width`` is n if the extended number n has arrived.
        var arrived = [Int](repeating: -1, count: SeenNumbers.width)
    }
    /// The number of remembered numbers. Older ones count as arrived.
    private static let width = 4096
    private let state = Mutex(State())

    /// Registers a number.
    ///
    /// - Returns: Whether it has not arrived before.
    func isNew(_ number: UInt16) -> Bool {
        state.withLock { state in
            let highest = state.highest ?? Int(number)
            let step = Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest))
            let extended = highest + Int(step)
            guard extended >= 0, extended > highest - Self.width,
                state.arrived[extended % Self.width] != extended
            else { return false }
            state.arrived[extended % Self.width] = extended
            state.highest = max(highest, extended)
            return true
        }
    }
}
