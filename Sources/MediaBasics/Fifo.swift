/// First in, first out; both ends in constant time on average.
package struct Fifo<Element> {
    private var places: [Element?] = []
    /// Where the oldest is; the places before it are empty.
    private var head = 0

    package init() {}

    package var count: Int { places.count - head }
    package var isEmpty: Bool { head == places.count }
    package var first: Element? { isEmpty ? nil : places[head] }

    package mutating func append(_ element: Element) { places.append(element) }

    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer { closeGap() }
        return places[head].take()
    }

    /// - Returns: The rest, the oldest first.
    package mutating func removeAll() -> [Element] {
        let rest = places[head...].compactMap { $0 }
        self = Fifo()
        return rest
    }

    /// Empty places are given up when they are half of all, so that each is moved over once.
    private mutating func closeGap() {
        head += 1
        if isEmpty {
            places.removeAll(keepingCapacity: places.count <= 64)
            head = 0
        } else if head >= 32, head * 2 >= places.count {
            places.removeFirst(head)
            head = 0
        }
    }
}
