/// One box of an ISO file in memory.
package struct MovieBox<Bytes: RandomAccessCollection>
where Bytes.Element == UInt8, Bytes.Index == Int {
    package let bytes: Bytes
    package let type: String
    /// The range of the content, without size and type.
    package let content: Range<Int>

    package init(bytes: Bytes, type: String, content: Range<Int>) {
        (self.bytes, self.type, self.content) = (bytes, type, content)
    }

    /// The version field of a full box.
    package var version: UInt8 { content.isEmpty ? 0 : bytes[content.lowerBound] }

    /// The boxes in this one.
    package var children: [MovieBox] { Array(MovieBoxes(bytes, content)) }

    package func children(_ type: String) -> [MovieBox] {
        MovieBoxes(bytes, content).filter { $0.type == type }
    }

    package func child(_ type: String) -> MovieBox? {
        MovieBoxes(bytes, content).first { $0.type == type }
    }

    /// The first entry of a list of sample descriptions (`stsd`), which states their number first.
    package var firstEntry: MovieBox? {
        var entries = MovieBoxes(bytes, content.dropFirst(8))
        return entries.next()
    }

    /// The number in a header box that follows the creation and modification times, which are
    /// longer in version 1: the timescale of `mvhd` and `mdhd` in units per second, the track
    /// number of `tkhd`.
    package var numberAfterTimes: UInt32 { number32(at: version == 1 ? 20 : 12) }

    /// Returns a number; `nil` beyond the end of the box.
    package func number(at offset: Int, width: Int) -> Int? {
        let place = content.lowerBound + offset
        guard place + width <= content.upperBound else { return nil }
        let number = bytes[place..<place + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(truncatingIfNeeded: number)
    }

    /// Returns a 32-bit number; zero beyond the end of the box.
    package func number32(at offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: number(at: offset, width: 4) ?? 0)
    }

    /// Returns a type of four letters; empty beyond the end of the box.
    package func letters(at offset: Int) -> String {
        let place = content.lowerBound + offset
        guard place + 4 <= content.upperBound else { return "" }
        return String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }
}

extension MovieBox<UnsafeMutableRawBufferPointer> {
    /// Changes the type to `free`, which readers skip.
    package func free() { rename("free") }

    /// Changes the type, of four letters.
    package func rename(_ type: String) {
        for (index, letter) in type.utf8.enumerated() {
            bytes[content.lowerBound - 4 + index] = letter
        }
    }

    /// Whether it is a `udta` box whose only content is an empty list of tags, as mp4mux writes it.
    package var hasNoTags: Bool {
        guard children.map(\.type) == ["meta"], let meta = child("meta") else { return false }
        let boxes = Array(MovieBoxes(bytes, meta.content.dropFirst(4)))
        return boxes.map(\.type) == ["hdlr", "ilst"] && boxes[1].content.isEmpty
    }

    /// Makes the stated size larger.
    package func grow(by count: Int) {
        let start = content.lowerBound - 8
        let size = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        for (index, byte) in (size + UInt32(count)).bytes.enumerated() {
            bytes[start + index] = byte
        }
    }

    package func set<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        let place = content.lowerBound + offset
        guard place + Number.bitWidth / 8 <= content.upperBound else { return }
        for (index, byte) in number.bytes.enumerated() { bytes[place + index] = byte }
    }
}

/// Iterates over the boxes in a part of an ISO file; ends at a box that does not fit.
package struct MovieBoxes<Bytes: RandomAccessCollection>: Sequence, IteratorProtocol
where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    private var rest: Range<Int>

    package init(_ bytes: Bytes, _ range: Range<Int>) {
        self.bytes = bytes
        rest = range
    }

    package mutating func next() -> MovieBox<Bytes>? {
        guard rest.count >= 8 else { return nil }
        let start = rest.lowerBound
        let size = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 8, size <= rest.count else { return nil }
        rest = start + size..<rest.upperBound
        return MovieBox(
            bytes: bytes, type: String(decoding: bytes[start + 4..<start + 8], as: UTF8.self),
            content: start + 8..<start + size)
    }
}

extension FixedWidthInteger {
    /// The bytes in the order of files: the most significant one first.
    package var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension Array where Element: FixedWidthInteger {
    /// The bytes of all numbers, in the order of files.
    package var bytes: [UInt8] { map(\.bigEndian).withUnsafeBytes { [UInt8]($0) } }
}
