/// The connections of one server, and which of them yields when there is no room for another.
///
/// A connection is idle while no request of it is read or answered. Where a limit is reached, a new connection takes the
/// place of the one that has been idle longest; without an idle one it is refused.
struct ConnectionTable<ID: Hashable> {
    /// Where a connection comes from.
    enum Origin: Hashable {
        /// This machine, which may stand for others: a web server in front.
        case local
        /// A network address; of IPv6 the first half, because a machine has as many of the second as it wants.
        case network([UInt8])
    }
    enum Admission: Equatable {
        case admitted
        /// Admitted, once this one is closed.
        case admittedInsteadOf(ID)
        case refused
    }
    private struct Entry {
        let origin: Origin
        /// When it became idle, in the order of all connections; `nil` while it is busy.
        var idleSince: Int?
    }
    private var entries: [ID: Entry] = [:]
    private var time = 0
    private let limit: Int
    private let limitPerAddress: Int

    /// - Parameters:
    ///   - limit: The most connections.
    ///   - limitPerAddress: The most of them from one network address.
    init(limit: Int, limitPerAddress: Int) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
    }

    /// Adds an idle connection.
    mutating func admit(_ id: ID, from origin: Origin) -> Admission {
        let neighbours = origin == .local ? [:] : entries.filter { $0.value.origin == origin }
        let candidates: [ID: Entry]
        if neighbours.count >= limitPerAddress {
            candidates = neighbours
        } else if entries.count >= limit {
            candidates = entries
        } else {
            add(id, origin)
            return .admitted
        }
        let idle = candidates.compactMap { id, entry in entry.idleSince.map { (id, $0) } }
        guard let victim = idle.min(by: { $0.1 < $1.1 })?.0 else { return .refused }
        entries[victim] = nil
        add(id, origin)
        return .admittedInsteadOf(victim)
    }

    private mutating func add(_ id: ID, _ origin: Origin) {
        entries[id] = Entry(origin: origin)
        setIdle(true, id)
    }

    /// Notes that a connection has become idle, or busy.
    mutating func setIdle(_ isIdle: Bool, _ id: ID) {
        time += 1
        entries[id]?.idleSince = isIdle ? time : nil
    }

    mutating func remove(_ id: ID) { entries[id] = nil }
}
