internal import Synchronization

/// Which transport-wide numbers of packets have come. A number counts once.
///
/// GStreamer 1.22's reports on packets are wrong where a number comes twice, and can end the process or damage its
/// memory. A network that doubles packets does that, and so does a server that sends lost ones again under their
/// old numbers.
///
/// Thread: any.
final class SeenNumbers: Sendable {
    private struct State {
        /// The highest number, going on past 65535; `nil` before the first.
        var highest: Int?
        /// Bit n of a ring: whether the number that is n modulo ``width`` has come.
        var bits = [Bool](repeating: false, count: SeenNumbers.width)
    }
    /// How far back numbers are remembered; what is older has come.
    private static let width = 4096
    private let state = Mutex(State())

    /// Notes a number.
    ///
    /// - Returns: Whether it has not come before.
    func isNew(_ number: UInt16) -> Bool {
        state.withLock { state in
            guard let highest = state.highest else {
                state.highest = Int(number)
                state.bits[Int(number) % Self.width] = true
                return true
            }
            let step = Int(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
            let place = highest + step
            if step > 0 {
                for passed in 1...min(step, Self.width) {
                    state.bits[(highest + passed) % Self.width] = false
                }
                state.highest = place
            } else if step <= -Self.width || place < 0 {
                return false
            }
            defer { state.bits[place % Self.width] = true }
            return !state.bits[place % Self.width]
        }
    }
}
