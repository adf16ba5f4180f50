/// Puts items that overtook each other in order again, and gives up those that do not come.
struct Resequencer<Item> {
    /// What follows next in order.
    enum Output {
        case item(Item)
        /// One or more items do not come.
        case gap
    }
    /// The number of the next item.
    private var next = 0
    private var held: [Int: Item] = [:]

    /// Whether items wait for one before them.
    var isWaiting: Bool { !held.isEmpty }

    /// Takes an item.
    ///
    /// - Returns: What follows in order; `nil` if the item comes after it was given up.
    mutating func take(_ item: Item, number: Int) -> [Output]? {
        guard number >= next else { return nil }
        held[number] = item
        return ready()
    }

    /// Gives up the missing items before a number.
    mutating func giveUp(before number: Int) -> [Output] {
        guard next < number else { return [] }
        var output: [Output] = []
        while next < number {
            if let item = held.removeValue(forKey: next) {
                output.append(.item(item))
            } else if case .gap = output.last {
            } else {
                output.append(.gap)
            }
            next += 1
        }
        return output + ready()
    }

    private mutating func ready() -> [Output] {
        var output: [Output] = []
        while let item = held.removeValue(forKey: next) {
            output.append(.item(item))
            next += 1
        }
        return output
    }

    /// Removes the items that wait.
    mutating func removeAll() -> [Item] {
        defer { held = [:] }
        return Array(held.values)
    }
}
