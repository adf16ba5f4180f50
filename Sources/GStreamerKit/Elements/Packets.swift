internal import CMediaBridge

/// RTP packets that pass a pad. Callbacks run on the streaming thread, and must return at once.
extension Pad {
    /// The kind of media in the RTP packets that pass, `audio` or `video`; `nil` if they are not RTP packets.
    package var packetMedia: String? {
        currentOrPossibleCaps?.text(of: "media")
    }

    /// The number of the source (SSRC) of the RTP packets that pass; `nil` if it is not known.
    package var packetSource: UInt32? { caps?.unsigned(of: "ssrc") }

    /// Calls `body` with the number of every packet, and whether it belongs to a key frame.
    package func onPacket(_ body: @escaping @Sendable ((number: UInt16, isKey: Bool)) -> Void) {
        filter { buffer in
            if let number = buffer.word(at: 2) { body((number: number, isKey: buffer.isKey)) }
            return true
        }
    }

    /// Drops the packets that `admits` does not admit.
    package func filterPackets(_ admits: @escaping @Sendable (PacketOutline) -> Bool) {
        filter { buffer in PacketOutline(buffer).map(admits) ?? true }
    }

    /// Calls `admits` for every packet of the retransmission payload type (RFC 4588). A packet that it does not
    /// admit is dropped.
    ///
    /// - Parameters:
    ///   - payload: The payload type.
    ///   - admits: Gets the size in bytes, and the number of the retransmitted packet.
    package func filterResent(
        _ payload: Int, _ admits: @escaping @Sendable (_ size: Int, _ number: UInt16) -> Bool
    ) {
        filter { buffer in
            // The number is at the beginning of the payload.
            guard let header = PacketHeader(buffer), Int(header.payloadType) == payload,
                let number = buffer.word(at: header.size)
            else { return true }
            return admits(Int(gst_buffer_get_size(buffer)), number)
        }
    }

    /// Calls `isNew` with the number in a header extension of two bytes (RFC 8285, one-byte headers) of every
    /// packet. If the number is not new, the extension is removed.
    ///
    /// - Parameters:
    ///   - id: The local identifier of the extension, 1 to 14.
    ///   - isNew: Gets the number.
    package func filterNumbers(
        ofExtension id: Int, _ isNew: @escaping @Sendable (UInt16) -> Bool
    ) {
        filter { $0.passes(extension: id, isNew) }
    }
}

/// The header fields and the beginning of the payload of an RTP packet.
package struct PacketOutline: Sendable {
    /// Its number in its stream.
    package var number: UInt16
    /// The time of its media, in units of the stream's clock.
    package var timestamp: UInt32
    /// Whether it is the last one of a picture.
    package var isMarked: Bool
    /// At most the first 256 bytes of its media.
    package var payload: [UInt8]

    package init(number: UInt16, timestamp: UInt32, isMarked: Bool, payload: [UInt8]) {
        (self.number, self.timestamp) = (number, timestamp)
        (self.isMarked, self.payload) = (isMarked, payload)
    }

    fileprivate init?(_ buffer: UnsafeMutablePointer<GstBuffer>) {
        guard let header = PacketHeader(buffer), let number = buffer.word(at: 2),
            let high = buffer.word(at: 4), let low = buffer.word(at: 6)
        else { return nil }
        let payload = [UInt8](unsafeUninitializedCapacity: 256) { bytes, count in
            count = Int(gst_buffer_extract(buffer, gsize(header.size), bytes.baseAddress, 256))
        }
        self.init(
            number: number, timestamp: UInt32(high) << 16 | UInt32(low), isMarked: header.isMarked,
            payload: payload)
    }
}

/// The header of an RTP packet. Source: RFC 3550, section 5.1.
private struct PacketHeader {
    let payloadType: UInt8
    let isMarked: Bool
    /// The offset of the extension in bytes; `nil` if there is none.
    let extensionPlace: Int?
    /// The size in bytes, including the extension.
    let size: Int

    init?(_ buffer: UnsafeMutablePointer<GstBuffer>) {
        guard let first = buffer.word(at: 0) else { return nil }
        payloadType = UInt8(first & 0x7f)
        isMarked = first & 0x80 != 0
        let fixed = 12 + 4 * Int(first >> 8 & 0x0f)
        if first & 0x1000 != 0 {
            guard let words = buffer.word(at: fixed + 2) else { return nil }
            (extensionPlace, size) = (fixed, fixed + 4 + 4 * Int(words))
        } else {
            (extensionPlace, size) = (nil, fixed)
        }
    }
}

extension UnsafeMutablePointer<GstBuffer> {
    /// False if the packet has a number that is not new and cannot be removed.
    fileprivate func passes(extension wanted: Int, _ isNew: (UInt16) -> Bool) -> Bool {
        guard let header = PacketHeader(self), let place = header.extensionPlace,
            word(at: place) == 0xbede
        else { return true }
        var (at, isFirst) = (place + 4, true)
        while at < header.size, let pair = word(at: at) {
            let (id, length) = (Int(pair >> 12), Int(pair >> 8 & 0x0f) + 1)
            if id == 15 { break }
            if id == 0 {
                at += 1
                continue
            }
            if id == wanted {
                let number = length == 2 && isFirst ? word(at: at + 1) : nil
                isFirst = false
                let end = min(header.size, at + 1 + length)
                if number.map(isNew) != true, !clear(at, end) { return false }
            }
            at += 1 + length
        }
        return true
    }

    /// Turns bytes into padding; false if they cannot be changed.
    private func clear(_ start: Int, _ end: Int) -> Bool {
        gst_mini_object_is_writable(cast()) != 0
            && gst_buffer_memset(self, gsize(start), 0, gsize(end - start)) == gsize(end - start)
    }

    /// Two bytes, the higher one first; `nil` beyond the end.
    fileprivate func word(at offset: Int) -> UInt16? {
        var bytes: (UInt8, UInt8) = (0, 0)
        let count = withUnsafeMutableBytes(of: &bytes) {
            gst_buffer_extract(self, gsize(offset), $0.baseAddress, 2)
        }
        return count == 2 ? UInt16(bytes.0) << 8 | UInt16(bytes.1) : nil
    }
}

// MARK: Jitter buffers

/// The counts of an rtpjitterbuffer.
package struct JitterBufferStatistics: Sendable {
    /// Packets that were passed on.
    package var pushed = 0
    /// Packets that never arrived.
    package var lost = 0
    /// Packets that arrived after a retransmission request.
    package var recovered = 0
    /// The mean deviation of the packets' transit time.
    package var jitter = Duration.zero

    /// Creates counts of zero.
    package init() {}

    /// Adds the counts of another buffer for the same kind of media.
    package mutating func add(_ other: JitterBufferStatistics) {
        pushed += other.pushed
        lost += other.lost
        recovered += other.recovered
        jitter = max(jitter, other.jitter)
    }
}

extension Element {
    /// The counts of an rtpjitterbuffer; `nil` for any other element.
    package var jitterBufferStatistics: JitterBufferStatistics? {
        guard factoryName == "rtpjitterbuffer", let stats = mb_get_structure(pointer, "stats")
        else {
            return nil
        }
        defer { gst_structure_free(stats) }
        func number(_ field: String) -> Int {
            var value: guint64 = 0
            gst_structure_get_uint64(stats, field, &value)
            return Int(clamping: value)
        }
        var result = JitterBufferStatistics()
        result.pushed = number("num-pushed")
        result.lost = number("num-lost")
        result.recovered = number("rtx-success-count")
        result.jitter = .nanoseconds(Int64(clamping: number("avg-jitter")))
        return result
    }
}
