/// Keeps the last seconds of encoded units, for the beginning of a later recording.
///
/// The length is a minimum, because a file begins with a key unit of the leading stream. The
/// content is bounded: units before the key unit that the file will begin with are evicted, and so
/// are units older than the length without a key unit before them, even if the leading stream has
/// no data at all.
struct PreRoll {
    private let length: MediaTime
    private let leader: RecordingKind
    private var units: [Interleaver.Released] = []

    /// - Parameter leader: The stream whose key units begin files.
    init(length: MediaTime, leader: RecordingKind) {
        self.length = length
        self.leader = leader
    }

    /// Adds a unit and evicts those that are too old. At least the length is kept, if that much was
    /// added.
    ///
    /// - Returns: The evicted units.
    mutating func keep(_ unit: Interleaver.Released) -> [EncodedUnit] {
        units.append(unit)
        let horizon = unit.unit.time - length
        // The last key unit that is old enough; without one, all units that are too old.
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

    /// Removes and returns all units.
    mutating func takeAll() -> [Interleaver.Released] {
        defer { units = [] }
        return units
    }
}
