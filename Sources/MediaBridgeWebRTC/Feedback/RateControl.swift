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
    /// The packets that the peer has reported on since the last decision, and when the first loss was reported
    /// that is not small. Counted in packets: browsers report on each hole at once, and on few packets between.
    private var loss = (lost: 0.0, expected: 0)
    /// The highest number of a packet that was reported.
    private var highest: UInt32?
    private var lossBegan: Double?
    /// Whether the reports since the last look tell of lost packets, and when such ones came last.
    private var hasLost = false
    private var lossSeen = -Double.infinity
    /// When a loss made the target fall.
    private var lastLoss = -Double.infinity
    private static let least = 50_000
    /// How long a loss says nothing new after a fall, in seconds.
    private static let lossInterval = 0.8
    /// The part of what arrives that is sent after a loss: what waits in the network has to get through as
    /// well, and a key frame.
    private static let caution = 0.45
    /// For how long reports are averaged, in seconds.
    private static let lossWindow = 0.12
    /// The most packets that one report counts for.
    private static let mostPackets = 5000
    /// How long none may be lost within what counts as one loss, in seconds.
    private static let lossPause = 0.15
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
            let step = Int32(bitPattern: report.highest &- (highest ?? report.highest &- 1))
            highest = report.highest
            hasLost = hasLost || report.lostFraction > 0
            guard step > 0 else { continue }
            let expected = min(Int(step), Self.mostPackets)
            loss = (
                loss.lost + report.lostFraction * Double(expected), loss.expected + expected
            )
        }
    }

    /// Takes a report into account at once if it says that the network carries far less than the target.
    ///
    /// - Parameters:
    ///   - sent: The bits per second that are sent at present.
    ///   - now: The time in seconds, of a clock that never goes back.
    /// - Returns: Whether the target fell.
    mutating func fall(sent: Int, at now: Double) -> Bool {
        var next = usable ?? Self.unlimited
        if hasLost {
            (hasLost, lossSeen) = (false, now)
        } else if lossBegan != nil, now - lossSeen > Self.lossPause {
            (loss, lossBegan) = ((0, 0), nil)
        }
        // What was sent before the last fall still gets lost for a while.
        if let lostFraction, lostFraction > 0.1, sent > 0, now - lastLoss > Self.lossInterval {
            // The first report counts packets of the time before.
            let began = lossBegan ?? now
            if lossBegan == nil { (lossBegan, loss) = (now, (0, 0)) }
            if now - began > Self.lossWindow {
                next = min(next, Int(Double(sent) * (1 - lostFraction) * Self.caution))
            }
        }
        guard Double(next) < 0.8 * Double(target ?? Self.unlimited) else { return false }
        if next != usable { lastLoss = now }
        (loss, lossBegan) = ((0, 0), nil)
        target = min(max(next, Self.least), most ?? Self.unlimited)
        return true
    }

    /// Computes the bit rate anew; called every half second.
    ///
    /// - Parameter sent: The bits per second that were sent since the last step.
    /// - Returns: Whether it fell far.
    mutating func step(sent: Int) -> Bool {
        let before = target
        defer { if lossBegan == nil { loss = (0, 0) } }
        var next = before ?? Self.unlimited
        if let usable {
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

    /// The part of the packets that was lost; `nil` if none was reported on.
    private var lostFraction: Double? {
        loss.expected == 0 ? nil : loss.lost / Double(loss.expected)
    }

    /// What is left of the estimate for video; `nil` without an estimate.
    private var usable: Int? {
        estimate.map { max(Self.least, Int(Double(min($0, Self.unlimited)) * 0.85) - 50_000) }
    }

    /// The target as a limit.
    var limit: VideoLimit {
        var limit = VideoLimit()
        limit.bitRate = target
        return limit
    }
}
