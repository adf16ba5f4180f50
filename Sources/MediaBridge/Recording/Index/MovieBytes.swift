internal import MediaBasics

/// The bytes of boxes to write, in parts: long tables are not copied into each of the boxes around them.
struct MovieBytes {
    private(set) var parts: [[UInt8]] = []
    var count: Int { parts.reduce(0) { $0 + $1.count } }

    init() {}

    /// Creates a box.
    init(box type: String, _ content: (inout MovieBytes) -> Void) {
        var inner = MovieBytes()
        content(&inner)
        parts = [UInt32(clamping: inner.count + 8).bytes + Array(type.utf8)] + inner.parts
    }

    /// The same box with another type.
    func renamed(_ type: String) -> MovieBytes {
        var renamed = self
        renamed.parts[0].replaceSubrange(4..<8, with: type.utf8)
        return renamed
    }

    /// Replaces the last bytes.
    mutating func setLast(_ end: [UInt8]) {
        guard let last = parts.indices.last, parts[last].count >= end.count else { return }
        parts[last].replaceSubrange(parts[last].count - end.count..<parts[last].count, with: end)
    }

    static func += (bytes: inout MovieBytes, part: [UInt8]) { bytes.parts.append(part) }
    static func += (bytes: inout MovieBytes, more: MovieBytes) { bytes.parts += more.parts }
}

// MARK: - Changed boxes

extension MovieBox<[UInt8]> {
    /// The box with its size and type.
    var whole: MovieBytes { MovieBytes(box: type) { $0 += Array(bytes[content]) } }

    /// Returns the box with its children, and those of the boxes named, changed.
    func replacing(_ inner: Set<String>, _ change: (MovieBox) -> MovieBytes) -> MovieBytes {
        MovieBytes(box: type) { content in
            for child in children {
                content +=
                    inner.contains(child.type) ? child.replacing(inner, change) : change(child)
            }
        }
    }

    /// Returns an `mvhd`, `tkhd` or `mdhd` box with another duration, in version 1 if it is too
    /// long for version 0.
    ///
    /// - Parameter timescale: The new timescale of `mvhd`; `nil` to keep the field.
    func dated(duration: UInt64, timescale: UInt64?) -> MovieBytes {
        let isLong = version == 1
        let width = isLong ? 8 : 4
        let becomesLong = isLong || duration > UInt32.max
        func time(_ value: UInt64) -> [UInt8] {
            becomesLong ? value.bytes : UInt32(truncatingIfNeeded: value).bytes
        }
        func number(_ offset: Int, _ width: Int) -> UInt64 {
            UInt64(truncatingIfNeeded: self.number(at: offset, width: width) ?? 0)
        }
        // After the times: the timescale, or the number of the track and four reserved bytes.
        let middle = 4 + 2 * width
        let duringAt = middle + (type == "tkhd" ? 8 : 4)
        let start = content.lowerBound
        return MovieBytes(box: type) {
            $0 += [becomesLong ? 1 : 0] + bytes[start + 1..<start + 4]
            $0 += time(number(4, width)) + time(number(4 + width, width))
            $0 +=
                timescale.map { UInt32(clamping: $0).bytes }
                ?? Array(bytes[start + middle..<start + duringAt])
            $0 += time(duration)
            $0 += Array(bytes[start + duringAt + width..<content.upperBound])
        }
    }
}
