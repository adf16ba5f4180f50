/// Keeps the last seconds of encoded units: for the beginning of a later recording, and for
/// replays.
///
/// The length is a minimum, because a file begins with a key unit of the leading stream. The
/// content is bounded: units before the key unit that the file will begin with are evicted, and so
/// are units older than the length without a key unit before them, even if the leading stream has
/// no data at all, and units that exceed the memory.
struct RecentUnits {
    private let length: MediaTime
    private let leader: RecordingKind
    private let memory: Int
    private var units: [Interleaver.Released] = []
    /// The memory that the units occupy, in bytes.
    private(set) var cost = 0

    /// - Parameters:
    ///   - leader: The stream whose key units begin files.
    ///   - memory: The maximum number of bytes.
    init(length: MediaTime, leader: RecordingKind, memory: Int = .max) {
        self.length = length
        self.leader = leader
        self.memory = memory
    }

    /// Adds a unit and evicts units that are too old. At least the length is kept, if enough was
    /// added and fits into the memory.
    ///
    /// - Returns: The evicted units.
    mutating func keep(_ unit: Interleaver.Released) -> [EncodedUnit] {
        units.append(unit)
        cost += unit.unit.cost
        let end = max(beginning(at: unit.unit.time - length), excess)
        guard end > 0 else { return [] }
        let evicted = units[..<end].map(\.unit)
        units.removeFirst(end)
        for unit in evicted { cost -= unit.cost }
        return evicted
    }

    /// The index of the last key unit at or before `horizon`; without one, of the first unit after
    /// it.
    private func beginning(at horizon: MediaTime) -> Int {
        var end = 0
        var isBegun = units.first.map { begins($0.unit) } ?? false
        for index in units.indices.dropFirst() {
            guard units[index - 1].unit.time <= horizon else { break }
            let begins = begins(units[index].unit) && units[index].unit.time <= horizon
            if begins || !isBegun { end = index }
            isBegun = isBegun || begins
        }
        return end
    }

    /// The number of oldest units to evict so that the others fit into the memory, and begin with a
    /// key unit if there is one.
    private var excess: Int {
        var (count, left) = (0, cost)
        while left > memory, count < units.count {
            left -= units[count].unit.cost
            count += 1
        }
        guard count > 0 else { return 0 }
        return units[count...].firstIndex { begins($0.unit) } ?? count
    }

    private func begins(_ unit: EncodedUnit) -> Bool { unit.kind == leader && unit.isKey }

    /// Removes and returns all units.
    mutating func takeAll() -> [Interleaver.Released] {
        defer { (units, cost) = ([], 0) }
        return units
    }

    /// Returns the last seconds, from a key unit on; all units if there are fewer.
    func last(_ length: MediaTime) -> [Interleaver.Released] {
        guard let newest = units.last else { return [] }
        return Array(units[beginning(at: newest.unit.time - length)...])
    }

    /// The time from the first unit to the end of the last.
    var span: MediaTime {
        guard let first = units.first, let last = units.last else { return .zero }
        return last.unit.end - first.unit.time
    }
}
