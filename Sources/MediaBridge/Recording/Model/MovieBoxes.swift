internal import Glibc
internal import MediaBasics

/// One box of an ISO file in memory.
struct MovieBox<Bytes: RandomAccessCollection>
where Bytes.Element == UInt8, Bytes.Index == Int {
    let bytes: Bytes
    let type: String
    /// The range of the content, without size and type.
    let content: Range<Int>

    /// The version field of a full box.
    var version: UInt8 { content.isEmpty ? 0 : bytes[content.lowerBound] }

    /// The boxes in this one.
    var children: [MovieBox] { Array(MovieBoxes(bytes, content)) }

    func children(_ type: String) -> [MovieBox] {
        MovieBoxes(bytes, content).filter { $0.type == type }
    }

    func child(_ type: String) -> MovieBox? {
        MovieBoxes(bytes, content).first { $0.type == type }
    }

    /// The number in a header box that follows the creation and modification times, which are
    /// longer in version 1: the timescale of `mvhd` and `mdhd` in units per second, the track
    /// number of `tkhd`.
    var numberAfterTimes: UInt32 { number32(at: version == 1 ? 20 : 12) }

    /// Returns a number; `nil` beyond the end of the box.
    func number(at offset: Int, width: Int) -> Int? {
        let place = content.lowerBound + offset
        guard place + width <= content.upperBound else { return nil }
        let number = bytes[place..<place + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(truncatingIfNeeded: number)
    }

    /// Returns a 32-bit number; zero beyond the end of the box.
    func number32(at offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: number(at: offset, width: 4) ?? 0)
    }

    /// Returns a type of four letters; empty beyond the end of the box.
    func letters(at offset: Int) -> String {
        let place = content.lowerBound + offset
        guard place + 4 <= content.upperBound else { return "" }
        return String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }
}

extension MovieBox<UnsafeMutableRawBufferPointer> {
    /// Changes the type to `free`, which readers skip.
    func free() {
        for (index, letter) in "free".utf8.enumerated() {
            bytes[content.lowerBound - 4 + index] = letter
        }
    }

    func set<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
        let place = content.lowerBound + offset
        guard place + Number.bitWidth / 8 <= content.upperBound else { return }
        for (index, byte) in number.bytes.enumerated() { bytes[place + index] = byte }
    }
}

/// Iterates over the boxes in a part of an ISO file; ends at a box that does not fit.
struct MovieBoxes<Bytes: RandomAccessCollection>: Sequence, IteratorProtocol
where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    private var rest: Range<Int>

    init(_ bytes: Bytes, _ range: Range<Int>) {
        self.bytes = bytes
        rest = range
    }

    mutating func next() -> MovieBox<Bytes>? {
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
    var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

extension Array where Element: FixedWidthInteger {
    /// The bytes of all numbers, in the order of files.
    var bytes: [UInt8] { map(\.bigEndian).withUnsafeBytes { [UInt8]($0) } }
}

// MARK: - Files

/// The bytes of a regular file: opening a named pipe would block, and a device has no end.
final class FileBytes {
    let path: String
    private let descriptor: Int32
    /// The size in bytes, when it was opened.
    let count: Int

    init(_ path: String) throws(PipelineError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PipelineError(.notFound, cannot: "read \(path)", advice: "check the path")
        }
        var about = stat()
        let isFile = fstat(descriptor, &about) == 0 && about.st_mode & S_IFMT == S_IFREG
        count = Int(about.st_size)
        guard isFile else {
            throw PipelineError(
                .badValue, message: "\(path) is not a file", advice: "a recording on a disk")
        }
    }

    deinit { close(descriptor) }

    /// Returns the bytes at an offset, fewer at the end of the file; `nil` after an error.
    func read(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = pread(descriptor, &bytes, count, offset)
        return length < 0 ? nil : Array(bytes[..<length])
    }

    /// Calls `body` for each top-level box of an ISO file with its type, offset and size, up to one
    /// that does not fit. The last one may end beyond the file.
    func forEachBox(
        from start: Int = 0, _ body: (String, Int, Int) throws(PipelineError) -> Void
    ) throws(PipelineError) {
        var position = start
        while position <= count - 8 {
            guard let header = read(16, at: position), header.count >= 8 else { break }
            var size = Self.number(header[..<4])
            if size == 1 { size = Self.number(header[8...]) }
            let (next, overflow) = position.addingReportingOverflow(size)
            // A size of zero means: to the end of the file.
            guard size >= 8, !overflow else { break }
            try body(String(decoding: header[4..<8], as: UTF8.self), position, size)
            position = next
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
