internal import Synchronization

/// Limits the bits that are spent on packets that are sent again.
///
/// webrtcbin sends every packet again that the peer asks for. On a path that has become narrow that fills
/// the path, and delays what is new; so a quarter of the bit rate is spent on it at most, and nothing on packets
/// from before the last key frame, which a receiver does not need any more.
///
/// Thread: any.
final class ResendBudget: Sendable {
    private struct State {
        var tokens: Double
        var bitRate: Double
        var last: UInt64 = 0
        /// The number of the first packet of the last key frame; `nil` before there is one.
        var keyFrame: UInt16?
        var wasKey = false
    }
    private let state: Mutex<State>
    private let sent = Atomic<Int>(0)
    private static let share = 0.25
    /// What may be spent at once, in seconds of the budget.
    private static let burst = 0.5

    /// - Parameter bitRate: Bits per second of the video.
    init(bitRate: Int) {
        let rate = Double(bitRate)
        state = Mutex(State(tokens: rate * Self.share * Self.burst, bitRate: rate))
    }

    /// Changes the bit rate of which a share is spent.
    func setBitRate(_ bitRate: Int) { state.withLock { $0.bitRate = Double(bitRate) } }

    /// The number of packets that were sent again.
    var packets: Int { sent.load(ordering: .relaxed) }

    /// Notes a packet that is sent for the first time.
    func note(_ number: UInt16, isKey: Bool) {
        state.withLock { state in
            if isKey, !state.wasKey { state.keyFrame = number }
            state.wasKey = isKey
        }
    }

    /// Returns whether a packet may be sent again.
    ///
    /// - Parameters:
    ///   - size: Its size in bytes.
    ///   - number: The number that it had.
    ///   - now: The time in nanoseconds, of a clock that never goes back.
    func admits(_ size: Int, number: UInt16, now: UInt64) -> Bool {
        let isAdmitted = state.withLock { state in
            let gained = Double(now &- (state.last == 0 ? now : state.last)) / 1e9
            state.last = now
            let rate = state.bitRate * Self.share
            state.tokens = min(state.tokens + gained * rate, rate * Self.burst)
            // Numbers begin anew after 65,535.
            if let keyFrame = state.keyFrame, number &- keyFrame >= 0x8000 { return false }
            guard state.tokens > 0 else { return false }
            state.tokens -= Double(8 * size)
            return true
        }
        if isAdmitted { sent.add(1, ordering: .relaxed) }
        return isAdmitted
    }
}
