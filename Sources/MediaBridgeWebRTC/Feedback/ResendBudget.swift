internal import Synchronization

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
