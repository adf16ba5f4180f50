/// The last seconds, encoded: what a recording that begins later begins with.
struct PreRoll {
    private let length: MediaTime
    private let begins: @Sendable (EncodedUnit) -> Bool
    private var units: [Interleaver.Released] = []

    /// - Parameter begins: Whether a file may begin with a unit.
    init(length: MediaTime, begins: @escaping @Sendable (EncodedUnit) -> Bool) {
        self.length = length
        self.begins = begins
    }

    /// Keeps a unit, and lets go of those that are too old: never less than the length is kept, as far
    /// as there is so much.
    ///
    /// - Returns: What was let go of.
    mutating func keep(_ unit: Interleaver.Released) -> [EncodedUnit] {
        units.append(unit)
        let horizon = unit.unit.time - length
        var last: Int?
        for index in units.indices.dropFirst() {
            guard units[index].unit.time <= horizon else { break }
            if begins(units[index].unit) { last = index }
        }
        guard let last else { return [] }
        defer { units.removeFirst(last) }
        return units[..<last].map(\.unit)
    }

    /// Everything that is kept.
    mutating func takeAll() -> [Interleaver.Released] {
        defer { units = [] }
        return units
    }
}
