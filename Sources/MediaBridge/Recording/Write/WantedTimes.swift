/// The times of a recording that are to be in files, because detectors found something.
///
/// All times are the recorder's. A range contains its beginning and not its end.
struct WantedTimes {
    /// What is known of one detector.
    private struct Source {
        /// The time of the last picture that it has seen.
        var reached: MediaTime?
        var isPresent = false
    }
    private let before: MediaTime
    private let after: MediaTime
    private var sources: [String: Source] = [:]
    /// Disjoint, in order.
    private(set) var ranges: [(from: MediaTime, to: MediaTime)] = []

    /// How far one detector of a live recording may be behind another before the others decide without it.
    private static let patience = MediaTime(nanoseconds: 30_000_000_000)
    private static let end = MediaTime(nanoseconds: .max)

    /// - Parameter detectors: The names of the detectors that decide.
    init(_ events: RecordedEvents) {
        before = MediaTime(events.before)
        after = MediaTime(events.after)
        for detector in events.detectors { sources[detector] = Source() }
    }

    /// Notes what a detector has found at a time.
    mutating func note(_ detector: String, isPresent: Bool, at time: MediaTime) {
        guard var source = sources[detector] else { return }
        if isPresent || source.isPresent {
            let begin = source.isPresent ? source.reached ?? time : time
            want(min(begin, time) - before, max(begin, time) + after)
        }
        source.isPresent = isPresent
        source.reached = max(source.reached ?? time, time)
        sources[detector] = source
    }

    /// Notes that a detector has ended: a state that is present then lasts to the end of the recording. So does
    /// that of a detector that has failed, because its recordings are missed otherwise.
    mutating func end(_ detector: String, hasFailed: Bool = false) {
        guard let source = sources.removeValue(forKey: detector) else { return }
        guard source.isPresent || hasFailed else { return }
        want((source.reached ?? .zero) - before, Self.end)
    }

    /// Notes that no detector finds anything more.
    mutating func endAll() { for detector in sources.keys { end(detector) } }

    /// Forgets the ranges, for another recording, which has only later times.
    mutating func removeRanges() { ranges = [] }

    /// Removes the first range, which is complete.
    mutating func removeFirst() { ranges.removeFirst() }

    /// The time before which it is known what is wanted.
    ///
    /// - Parameter isLive: Whether the others decide without a detector that is far behind.
    func decided(isLive: Bool) -> MediaTime {
        guard !sources.isEmpty else { return Self.end }
        let reached = sources.values.map(\.reached)
        guard let newest = reached.compactMap(\.self).max() else { return .zero }
        let awaited = reached.filter { time in
            !isLive || time.map { newest - $0 < Self.patience } ?? false
        }
        // A detector that has seen nothing may find its state at any time.
        guard !awaited.contains(nil) else { return .zero }
        return (awaited.compactMap(\.self).min() ?? newest) - before
    }

    private mutating func want(_ from: MediaTime, _ to: MediaTime) {
        var union = (from: from, to: to)
        ranges.removeAll { range in
            guard range.from <= union.to, union.from <= range.to else { return false }
            union = (min(range.from, union.from), max(range.to, union.to))
            return true
        }
        let place = ranges.firstIndex { $0.from > union.from } ?? ranges.count
        ranges.insert(union, at: place)
    }
}
