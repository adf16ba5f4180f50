/// The types of the OBUs of a temporal unit of AV1, each with its size.
///
/// Source: AV1 bitstream and decoding process specification, 5.3 and 4.10.5.
package struct OpenBitstreamUnits: Sequence, IteratorProtocol {
    /// The type of an OBU.
    package struct Kind: Hashable, Sendable {
        let number: UInt8
        package static let sequenceHeader = Kind(number: 1)
        package static let frameHeader = Kind(number: 3)
        package static let frame = Kind(number: 6)
    }
    private let bytes: UnsafeRawBufferPointer
    private var at = 0
    /// Whether what was read so far is no OBU: a reserved bit is set, a size is missing, or an OBU
    /// ends beyond the bytes.
    package private(set) var isBroken = false

    /// - Parameter bytes: Must stay valid as long as this is used.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package mutating func next() -> Kind? {
        guard at < bytes.count, !isBroken else { return nil }
        let header = bytes[at]
        // The forbidden bit, the bit for a size, and the reserved bit.
        guard header & 0b1000_0011 == 0b10 else {
            isBroken = true
            return nil
        }
        at += header & 4 != 0 ? 2 : 1
        guard let size = size(), size <= bytes.count - at else {
            isBroken = true
            return nil
        }
        at += size
        return Kind(number: header >> 3 & 0xf)
    }

    /// Reads a number in groups of seven bits, the lowest first.
    private mutating func size() -> Int? {
        var size = 0
        for shift in stride(from: 0, to: 56, by: 7) where at < bytes.count {
            let byte = bytes[at]
            at += 1
            size |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return size }
        }
        return nil
    }
}
