/// A first-in, first-out queue; insertion and removal take amortised constant time.
///
/// A ring whose code is inlinable: unspecialised, and with the removals of an array, it took a tenth of
/// the time of a busy mailbox.
@frozen
package struct Fifo<Element> {
    /// The elements are in `count` places from `head` on, which continue at the beginning. The size
    /// is zero or a power of two.
    @usableFromInline var places: [Element?] = []
    @usableFromInline var head = 0
    /// The number of elements.
    @usableFromInline package internal(set) var count = 0

    /// The size of a ring whose memory is kept while it is empty.
    @usableFromInline static var keptSize: Int { 64 }

    @inlinable package init() {}

    @inlinable @inline(__always) package var isEmpty: Bool { count == 0 }
    @inlinable @inline(__always) package var first: Element? { isEmpty ? nil : places[head] }

    @inlinable @inline(__always) package mutating func append(_ element: Element) {
        if count == places.count { grow() }
        places[place(count)] = element
        count += 1
    }

    @inlinable @inline(__always) package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = places[head].take()
        head = place(1)
        count -= 1
        if isEmpty, places.count > Self.keptSize { self = Fifo() }
        return element
    }

    /// Removes all elements.
    ///
    /// - Returns: The removed elements, the oldest first.
    @inlinable package mutating func removeAll() -> [Element] {
        var rest: [Element] = []
        rest.reserveCapacity(count)
        while let element = popFirst() { rest.append(element) }
        return rest
    }

    /// Returns the place that is `distance` places behind `head`.
    @inlinable @inline(__always) func place(_ distance: Int) -> Int {
        (head + distance) & (places.count - 1)
    }

    @inlinable mutating func grow() {
        let size = max(4, places.count * 2)
        var larger: [Element?] = []
        larger.reserveCapacity(size)
        for distance in 0..<count { larger.append(places[place(distance)].take()) }
        while larger.count < size { larger.append(nil) }
        (places, head) = (larger, 0)
    }
}
