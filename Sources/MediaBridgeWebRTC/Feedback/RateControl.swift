internal import MediaCore

/// Estimates how many bits per second of video a network carries, from what the peer reports.
///
/// A peer that estimates the rate itself (REMB) is believed, with a margin for sound and packets that are
/// sent again. Without it the loss decides, as in draft-ietf-rmcat-gcc-02, section 6: less above a tenth,
/// more below a fiftieth. A fall takes effect at once and a rise in steps, since a rate that is too high
/// costs far more than one that is too low.
struct RateControl: Sendable {
    /// The bit rate to be kept; `nil` while nothing limits it.
    private(set) var target: Int?
    /// The most that was asked for.
    private let most: Int?
    private var estimate: Int?
    private var lostFraction: Double?
    private static let least = 50_000
    /// Above any video of one picture.
    private static let unlimited = 50_000_000
    /// The most by which the rate rises in a step of half a second.
    private static let rise = 1.08

    /// - Parameter most: The most bits per second that are ever sent; `nil` for any.
    init(most: Int?) {
        self.most = most
        target = most
    }

    /// Notes what the peer reports.
    mutating func note(_ packet: ControlPacket, of source: UInt32) {
        if let estimate = packet.estimate { self.estimate = estimate }
        for report in packet.reports where report.source == source {
            lostFraction = max(lostFraction ?? 0, report.lostFraction)
        }
    }

    /// Computes the bit rate anew; called every half second.
    ///
    /// - Parameter sent: The bits per second that were sent since the last step.
    /// - Returns: Whether it fell so far that a key frame is worth its bits: frames that are on their way
    ///   come too late.
    mutating func step(sent: Int) -> Bool {
        let before = target
        defer { lostFraction = nil }
        var next = before ?? Self.unlimited
        if let estimate {
            let usable = max(Self.least, Int(Double(min(estimate, Self.unlimited)) * 0.85) - 50_000)
            next = usable < next ? usable : min(usable, Int(Double(next) * Self.rise))
        } else if let lostFraction {
            if lostFraction > 0.1 {
                let present = sent > 0 ? min(next, sent) : next
                next = Int(Double(present) * (1 - lostFraction / 2))
            } else if lostFraction < 0.02, before != nil {
                next = Int(Double(next) * Self.rise)
            }
        }
        next = min(max(next, Self.least), most ?? Self.unlimited)
        target = next >= Self.unlimited ? most : next
        guard let target, let before else { return false }
        return Double(target) < 0.6 * Double(before)
    }

    /// The target as a limit.
    var limit: VideoLimit {
        var limit = VideoLimit()
        limit.bitRate = target
        return limit
    }
}
