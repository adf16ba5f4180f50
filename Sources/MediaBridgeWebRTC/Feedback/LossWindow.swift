/// The share of a stream's packets that a peer has reported as lost lately.
///
/// Counted in packets: peers report at once where something is missing, so that the shares of single reports say
/// little.
struct LossWindow {
    /// How far back it looks, in seconds.
    static let length = 10.0
    private var marks: [(time: Double, highest: UInt32, lost: Int)] = []

    /// Adds a report.
    ///
    /// - Parameter now: Seconds of any clock that does not jump.
    mutating func note(_ report: ControlPacket.Report, at now: Double) {
        // A report that overtook another.
        if let last = marks.last, Int32(bitPattern: report.highest &- last.highest) < 0 { return }
        marks.append((now, report.highest, report.lost))
        forget(before: now - Self.length)
    }

    /// Returns the share, from 0 to 1; zero if nothing was reported lately.
    func share(at now: Double) -> Double {
        guard let first = marks.first, let last = marks.last, now - last.time <= Self.length
        else { return 0 }
        let packets = Double(last.highest &- first.highest)
        return packets > 0 ? min(max(0, Double(last.lost - first.lost) / packets), 1) : 0
    }

    /// Keeps one report from before the time: what was lost since then is counted from it.
    private mutating func forget(before time: Double) {
        while marks.count > 2, marks[1].time < time { marks.removeFirst() }
    }
}
