/// The duration that a Matroska file announces.
///
/// matroskamux 1.22 writes the duration of the longest stream, even if another stream begins later and ends
/// later. At the end it writes the duration as a separate element, over the one in the header.
///
/// Source: RFC 9559, section 5.1.2.10 (`Duration`, a float in milliseconds by default).
enum SegmentDuration {
    /// The element's identifier, the length of its content (8 bytes), and the whole length.
    private static let (head, size) = (UInt64(0x448988), 11)

    /// Makes a muxer announce the time from the beginning of the file to its end, at least.
    ///
    /// - Parameter duration: Called at the end, on the muxer's streaming thread.
    static func correct(_ muxer: Element?, _ duration: @escaping @Sendable () -> MediaTime) {
        muxer?.pad("src")?.rewrite {
            $0 >> 40 == head && $1 == size
        } _: { bytes in
            let said = bytes[3...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let right = max(Double(bitPattern: said), duration().seconds * 1000)
            withUnsafeBytes(of: right.bitPattern.bigEndian) { number in
                for (index, byte) in number.enumerated() { bytes[3 + index] = byte }
            }
        }
    }
}
