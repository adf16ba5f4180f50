/// The last seconds, encoded: what a recording that begins later begins with.
///
/// The length is a minimum, for a file begins with a unit of the leading stream that needs none before it.
/// It is bounded, too: what no file can begin with any more, and what is older than the length without a
/// beginning in front of it, is let go of, also where the leading stream never comes.
struct PreRoll {
    private let length: MediaTime
    private let leader: RecordingKind
    private var units: [Interleaver.Released] = []

    /// - Parameter leader: The stream whose key units files begin with.
    init(length: MediaTime, leader: RecordingKind) {
        self.length = length
        self.leader = leader
    }

    /// Keeps a unit, and lets go of those that are too old: never less than the length is kept, as far
    /// as there is so much.
    ///
    /// - Returns: What was let go of.
    mutating func keep(_ unit: Interleaver.Released) -> [EncodedUnit] {
        units.append(unit)
        let horizon = unit.unit.time - length
        // The last beginning that is old enough; without one, whatever is too old by itself.
        var end = 0
        var isBegun = units.first.map { begins($0.unit) } ?? false
        for index in units.indices.dropFirst() {
            guard units[index - 1].unit.time <= horizon else { break }
            let begins = begins(units[index].unit) && units[index].unit.time <= horizon
            if begins || !isBegun { end = index }
            isBegun = isBegun || begins
        }
        guard end > 0 else { return [] }
        defer { units.removeFirst(end) }
        return units[..<end].map(\.unit)
    }

    private func begins(_ unit: EncodedUnit) -> Bool { unit.kind == leader && unit.isKey }

    /// Everything that is kept.
    mutating func takeAll() -> [Interleaver.Released] {
        defer { units = [] }
        return units
    }
}
