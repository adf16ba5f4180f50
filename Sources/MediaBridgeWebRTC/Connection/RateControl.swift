internal import MediaCore
internal import Synchronization

/// Estimates the network's capacity for video, in bits per second, from the peer's reports.
///
/// The peer's own estimate (REMB) is used if there is one, minus a margin for audio and
/// retransmissions. Otherwise the loss decides, as in draft-ietf-rmcat-gcc-02, section 6: the rate
/// decreases above a tenth and increases below a fiftieth. Decreases take effect at once and
/// increases in steps, because a rate that is too high costs far more than one that is too low.
struct RateControl: Sendable {
    /// The target bit rate; `nil` while there is no limit.
    private(set) var target: Int?
    /// The configured maximum.
    private let most: Int?
    private var estimate: Int?
    /// The lost and expected packets reported since the last decision, and when the first
    /// significant loss was reported. Counted in packets: browsers report each loss at once, and
    /// cover few packets between losses.
    private var loss = (lost: 0.0, expected: 0)
    /// The highest sequence number that was reported.
    private var highest: UInt32?
    private var lossBegan: Double?
    /// Whether reports since the last evaluation contain losses, and when a loss was last seen.
    private var hasLost = false
    private var lossSeen = -Double.infinity
    /// When a loss last decreased the target.
    private var lastLoss = -Double.infinity
    private static let least = 50_000
    /// How long further losses are ignored after a decrease, in seconds.
    private static let lossInterval = 0.8
    /// The fraction of the delivered rate that is sent after a loss: the packets queued in the
    /// network and a keyframe must get through as well.
    private static let caution = 0.45
    /// The period over which reports are averaged, in seconds.
    private static let lossWindow = 0.12
    /// The maximum number of packets that one report counts for.
    private static let mostPackets = 5000
    /// The longest gap without losses within one loss episode, in seconds.
    private static let lossPause = 0.15
    /// Higher than the bit rate of any single video.
    private static let unlimited = 50_000_000
    /// The maximum increase of the rate in a step of half a second, as a factor.
    private static let rise = 1.08

    /// - Parameter most: The maximum bit rate in bits per second; `nil` for no maximum.
    init(most: Int?) {
        self.most = most
        target = most
    }

    /// Notes the peer's reports.
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

    /// Applies a report at once if the network carries far less than the target.
    ///
    /// - Parameters:
    ///   - sent: The current send rate in bits per second.
    ///   - now: The time in seconds, of a monotonic clock.
    /// - Returns: Whether the target fell.
    mutating func fall(sent: Int, at now: Double) -> Bool {
        var next = usable ?? Self.unlimited
        if hasLost {
            (hasLost, lossSeen) = (false, now)
        } else if lossBegan != nil, now - lossSeen > Self.lossPause {
            (loss, lossBegan) = ((0, 0), nil)
        }
        // Packets sent before the last decrease still get lost for a while.
        if let lostFraction, lostFraction > 0.1, sent > 0, now - lastLoss > Self.lossInterval {
            // The first report also counts earlier packets.
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

    /// Recomputes the bit rate; called every half second.
    ///
    /// - Parameter sent: The send rate since the last step, in bits per second.
    /// - Returns: Whether the rate decreased by a large amount.
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

    /// The fraction of packets lost; `nil` if there were no reports.
    private var lostFraction: Double? {
        loss.expected == 0 ? nil : loss.lost / Double(loss.expected)
    }

    /// The part of the estimate that is left for video; `nil` without an estimate.
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

// MARK: - ResendBudget

/// Limits the bit rate of retransmissions.
///
/// webrtcbin retransmits every packet that the peer requests. On a path whose capacity has dropped,
/// retransmissions would fill the path and delay new packets. At most a quarter of the bit rate is
/// therefore spent on them, and nothing on packets from before the last keyframe, which a receiver
/// no longer needs.
///
/// Thread: any.
final class ResendBudget: Sendable {
    private struct State {
        var tokens: Double
        var bitRate: Double
        var last: UInt64 = 0
        /// The sequence number of the last keyframe's first packet; `nil` before the first
        /// keyframe.
        var keyFrame: UInt16?
        var wasKey = false
    }
    private let state: Mutex<State>
    private let sent = Atomic<Int>(0)
    private static let share = 0.25
    /// The maximum burst, in seconds of the budget.
    private static let burst = 0.5

    /// - Parameter bitRate: The bit rate of the video, in bits per second.
    init(bitRate: Int) {
        let rate = Double(bitRate)
        state = Mutex(State(tokens: rate * Self.share * Self.burst, bitRate: rate))
    }

    /// Sets the bit rate that the budget is a share of.
    func setBitRate(_ bitRate: Int) { state.withLock { $0.bitRate = Double(bitRate) } }

    /// The number of retransmitted packets.
    var packets: Int { sent.load(ordering: .relaxed) }

    /// Notes a packet that is sent for the first time.
    func note(_ number: UInt16, isKey: Bool) {
        state.withLock { state in
            if isKey, !state.wasKey { state.keyFrame = number }
            state.wasKey = isKey
        }
    }

    /// Returns whether a packet may be retransmitted.
    ///
    /// - Parameters:
    ///   - size: Its size in bytes.
    ///   - number: Its original sequence number.
    ///   - now: The time in nanoseconds, of a monotonic clock.
    func admits(_ size: Int, number: UInt16, now: UInt64) -> Bool {
        let isAdmitted = state.withLock { state in
            let gained = Double(now &- (state.last == 0 ? now : state.last)) / 1e9
            state.last = now
            let rate = state.bitRate * Self.share
            state.tokens = min(state.tokens + gained * rate, rate * Self.burst)
            // Sequence numbers wrap around after 65,535.
            if let keyFrame = state.keyFrame, number &- keyFrame >= 0x8000 { return false }
            guard state.tokens > 0 else { return false }
            state.tokens -= Double(8 * size)
            return true
        }
        if isAdmitted { sent.add(1, ordering: .relaxed) }
        return isAdmitted
    }
}
