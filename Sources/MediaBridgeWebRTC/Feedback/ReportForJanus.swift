/// Adjusts outgoing receiver reports so that Janus retransmits lost packets.
///
/// Janus 1.1 keeps packets for retransmission only if it knows a round-trip time above zero
/// milliseconds. It takes that time only from the first block of a report, and assigns it to the
/// stream of that block. The blocks about video are therefore moved to the front, and state that
/// the server's report arrived a little later than it did.
///
/// Source: RFC 3550, section 6.4; `janus_rtcp_incoming_rr` and `nack_queue_ms` in Janus.
enum ReportForJanus {
    /// 2 ms in units of 1/65536 s.
    private static let addition: UInt32 = 131

    /// Adjusts a compound packet up to its first malformed part.
    ///
    /// - Parameters:
    ///   - bytes: The packet.
    ///   - isVideo: Returns whether the source with this number (SSRC) sends video.
    static func adjust(
        _ bytes: UnsafeMutableRawBufferPointer, isVideo: (UInt32) -> Bool
    ) {
        var at = 0
        while at + 4 <= bytes.count, bytes[at] >> 6 == 2 {
            let end = at + 4 * (1 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3]))
            guard end <= bytes.count else { return }
            // A receiver report: the number of its source, then the blocks.
            if bytes[at + 1] == 201, at + 8 <= end {
                let count = min(Int(bytes[at] & 0x1f), (end - at - 8) / Block.size)
                let place = at + 8..<at + 8 + count * Block.size
                adjust(UnsafeMutableRawBufferPointer(rebasing: bytes[place]), count, isVideo)
            }
            at = end
        }
    }

    private static func adjust(
        _ bytes: UnsafeMutableRawBufferPointer, _ count: Int, _ isVideo: (UInt32) -> Bool
    ) {
        let blocks = (0..<count).map { Block(bytes, at: $0) }
        let video = blocks.filter { isVideo($0.source) }
        let others = blocks.filter { !isVideo($0.source) }
        for (place, var block) in (video + others).enumerated() {
            block.sinceLastReport -= min(addition, block.sinceLastReport)
            block.write(to: bytes, at: place)
        }
    }

    /// A report block.
    private struct Block {
        static let size = 24
        private var bytes: [UInt8]

        init(_ all: UnsafeMutableRawBufferPointer, at place: Int) {
            bytes = Array(all[place * Self.size..<(place + 1) * Self.size])
        }

        func write(to all: UnsafeMutableRawBufferPointer, at place: Int) {
            for (offset, byte) in bytes.enumerated() { all[place * Self.size + offset] = byte }
        }

        var source: UInt32 { word(at: 0) }

        /// The time since the last sender report arrived, in units of 1/65536 s.
        var sinceLastReport: UInt32 {
            get { word(at: 20) }
            set {
                for index in 0..<4 {
                    bytes[20 + index] = UInt8(truncatingIfNeeded: newValue >> (24 - 8 * index))
                }
            }
        }

        private func word(at offset: Int) -> UInt32 {
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
