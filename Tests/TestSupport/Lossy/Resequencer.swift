/// Restores the order of items, and skips items that do not arrive.
struct Resequencer<Item> {
    /// The next output in order.
    enum Output {
        case item(Item)
        /// One or more items are missing and were skipped.
        case gap
    }
    /// The number of the next item.
    private var next = 0
    private var held: [Int: Item] = [:]

    /// Whether items are held until an earlier item arrives.
    var isWaiting: Bool { !held.isEmpty }

    /// Takes an item.
    ///
    /// - Returns: The output that is now in order; `nil` if the item arrived after it was skipped.
    mutating func take(_ item: Item, number: Int) -> [Output]? {
        guard number >= next else { return nil }
        held[number] = item
        return ready()
    }

    /// Skips the missing items before a number.
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

    /// Removes and returns the held items.
    mutating func removeAll() -> [Item] {
        defer { held = [:] }
        return Array(held.values)
    }
}
