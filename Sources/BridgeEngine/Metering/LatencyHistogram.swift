internal import MediaCore
internal import Synchronization

/// A histogram of durations with eight classes per octave, so that quantiles are accurate to 12 %.
///
/// Recording costs one atomic addition, so it is cheap enough to leave on. Thread: any.
final class LatencyHistogram: Sendable {
    private static let octaves = 40
    private static let steps = 8
    private let classes = (0..<octaves * steps).map { _ in Cell() }

    private final class Cell: Sendable {
        let count = Atomic<Int>(0)
    }

    func record(_ time: MediaTime) {
        classes[Self.place(of: time.nanoseconds)].count.add(1, ordering: .relaxed)
    }

    /// Returns the value that this share (0 to 1) of all values does not exceed; `nil` before the
    /// first value.
    func quantile(_ share: Double) -> Duration? {
        let counts = classes.map { $0.count.load(ordering: .relaxed) }
        let all = counts.reduce(0, +)
        guard all > 0 else { return nil }
        let wanted = Int((Double(all) * share).rounded(.up))
        var sum = 0
        for (place, count) in counts.enumerated() {
            sum += count
            if sum >= max(1, wanted) { return .nanoseconds(Self.middle(of: place)) }
        }
        return nil
    }

    private static func place(of nanoseconds: Int64) -> Int {
        guard nanoseconds >= Int64(steps) else { return max(0, Int(nanoseconds)) }
        let octave = 63 - nanoseconds.leadingZeroBitCount
        let step = Int((nanoseconds >> (octave - 3)) & 7)
        return min((octave - 2) * steps + step, octaves * steps - 1)
    }

    private static func middle(of place: Int) -> Int64 {
        guard place >= steps else { return Int64(place) }
        let (octave, step) = (place / steps + 2, place % steps)
        let width = Int64(1) << (octave - 3)
        return (Int64(steps) + Int64(step)) * width + width / 2
    }
}
