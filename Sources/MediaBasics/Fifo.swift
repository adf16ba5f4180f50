/// A first-in, first-out queue; insertion and removal take amortised constant time.
package struct Fifo<Element> {
    private var places: [Element?] = []
    /// Index of the oldest element; the places before it are empty.
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

    /// Removes all elements.
    ///
    /// - Returns: The removed elements, the oldest first.
    package mutating func removeAll() -> [Element] {
        let rest = places[head...].compactMap { $0 }
        self = Fifo()
        return rest
    }

    /// Removes the empty places once they are half of all, so that each element is moved at most
    /// once on average.
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
