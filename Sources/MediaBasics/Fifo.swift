/// A first-in, first-out queue; insertion and removal take amortised constant time.
///
/// Its code is inlinable, because unspecialised it took a tenth of the time of a busy mailbox.
@frozen
package struct Fifo<Element> {
    @usableFromInline var places: [Element?] = []
    /// Index of the oldest element; the places before it are empty.
    @usableFromInline var head = 0

    @inlinable package init() {}

    @inlinable package var count: Int { places.count - head }
    @inlinable package var isEmpty: Bool { head == places.count }
    @inlinable package var first: Element? { isEmpty ? nil : places[head] }

    @inlinable package mutating func append(_ element: Element) { places.append(element) }

    @inlinable package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer { closeGap() }
        return places[head].take()
    }

    /// Removes all elements.
    ///
    /// - Returns: The removed elements, the oldest first.
    @inlinable package mutating func removeAll() -> [Element] {
        let rest = places[head...].compactMap { $0 }
        self = Fifo()
        return rest
    }

    /// Removes the empty places once they are half of all, so that each element is moved at most
    /// once on average.
    @inlinable mutating func closeGap() {
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
