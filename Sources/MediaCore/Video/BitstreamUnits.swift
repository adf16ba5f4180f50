/// The NAL units of an access unit of H.264 or H.265, by the offsets of their headers.
///
/// Source: ITU-T H.264 annex B (start codes), ISO/IEC 14496-15 (lengths, `avcC`, `hvcC`).
package struct NetworkUnits: Sequence {
    private let bytes: UnsafeRawBufferPointer
    /// The number of bytes of each length; `nil` for start codes.
    private let lengthSize: Int?

    /// - Parameters:
    ///   - bytes: Must stay valid as long as this is used.
    ///   - codecData: The codec data of the stream, which says how long the lengths are; `nil` for a
    ///     byte stream.
    package init(
        _ bytes: UnsafeRawBufferPointer, of codec: VideoCodec, codecData: [UInt8]?
    ) {
        self.bytes = bytes
        let place = codec == .h265 ? 21 : 4
        lengthSize = codecData.map { $0.count > place ? Int($0[place] & 3) + 1 : 4 }
    }

    /// Whether the bytes begin as an access unit does: with a start code, or with the length of a NAL unit.
    package var beginsWithUnit: Bool {
        guard lengthSize == nil else { return contains { _ in true } }
        guard let first = bytes.firstIndex(where: { $0 != 0 }) else { return false }
        return first >= 2 && bytes[first] == 1 && first + 1 < bytes.count
    }

    package func makeIterator() -> Iterator { Iterator(bytes: bytes, lengthSize: lengthSize) }

    package struct Iterator: IteratorProtocol {
        fileprivate let bytes: UnsafeRawBufferPointer
        fileprivate let lengthSize: Int?
        fileprivate var at = 0

        /// Returns the offset of the next header.
        package mutating func next() -> Int? {
            guard let lengthSize else { return nextAfterStartCode() }
            guard at + lengthSize < bytes.count else { return nil }
            let length = bytes[at..<at + lengthSize].reduce(0) { $0 << 8 | Int($1) }
            let header = at + lengthSize
            guard length > 0, length <= bytes.count - header else {
                at = bytes.count
                return nil
            }
            at = header + length
            return header
        }

        private mutating func nextAfterStartCode() -> Int? {
            var zeros = 0
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                if byte == 1, zeros >= 2, at < bytes.count { return at }
                zeros = byte == 0 ? zeros + 1 : 0
            }
            return nil
        }
    }
}

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
