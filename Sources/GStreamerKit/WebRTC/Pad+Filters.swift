internal import CMediaBridge

/// What an RTP packet says of itself.
package struct PacketOutline: Sendable {
    /// Its number in its stream.
    package var number: UInt16
    /// The time of its media, in units of the stream's clock.
    package var timestamp: UInt32
    /// Whether it is the last one of a picture.
    package var isMarked: Bool
    /// The first 256 bytes of its media at most.
    package var payload: [UInt8]

    package init(number: UInt16, timestamp: UInt32, isMarked: Bool, payload: [UInt8]) {
        (self.number, self.timestamp) = (number, timestamp)
        (self.isMarked, self.payload) = (isMarked, payload)
    }
}

extension Pad {
    /// Drops the RTP packets that `admits` does not admit. On the streaming thread: it must return at once.
    package func filterPackets(_ admits: @escaping @Sendable (PacketOutline) -> Bool) {
        filter { buffer in PacketOutline(buffer).map(admits) ?? true }
    }

    /// Drops the buffers for which `admits` returns false; it gets whether one is a key frame. Otherwise like
    /// ``filterPackets(_:)``.
    package func filterBuffers(_ admits: @escaping @Sendable (_ isKey: Bool) -> Bool) {
        filter { admits(gst_buffer_has_flags($0, GST_BUFFER_FLAG_DELTA_UNIT) == 0) }
    }

    private func filter(
        _ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool
    ) {
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { _, info, context in
                guard let info, let context else { return GST_PAD_PROBE_OK }
                let isList =
                    info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0
                let isAdmitted = Unmanaged<BufferFilter>.fromOpaque(context)
                    ._withUnsafeGuaranteedRef { filter in
                        guard isList else {
                            return gst_pad_probe_info_get_buffer(info).map(filter.passes) ?? true
                        }
                        let list = gst_pad_probe_info_get_buffer_list(info)
                        let count = list.map { gst_buffer_list_length($0) } ?? 0
                        // Each is shown to the filter, also after one that it does not admit.
                        return (0..<count).map { place in
                            gst_buffer_list_get(list, place).map(filter.passes) ?? true
                        }.allSatisfy { $0 }
                    }
                return isAdmitted ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
            }, Unmanaged.passRetained(BufferFilter(passes)).toOpaque(),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }

    private final class BufferFilter: Sendable {
        let passes: @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool
        init(_ passes: @escaping @Sendable (UnsafeMutablePointer<GstBuffer>) -> Bool) {
            self.passes = passes
        }
    }
}

extension PacketOutline {
    fileprivate init?(_ buffer: UnsafeMutablePointer<GstBuffer>) {
        guard let first = buffer.word(at: 0), let number = buffer.word(at: 2),
            let high = buffer.word(at: 4), let low = buffer.word(at: 6)
        else { return nil }
        var offset = 12 + 4 * Int(first >> 8 & 0x0f)
        if first & 0x1000 != 0 {
            guard let words = buffer.word(at: offset + 2) else { return nil }
            offset += 4 + 4 * Int(words)
        }
        let payload = [UInt8](unsafeUninitializedCapacity: 256) { bytes, count in
            count = Int(gst_buffer_extract(buffer, gsize(offset), bytes.baseAddress, 256))
        }
        self.init(
            number: number, timestamp: UInt32(high) << 16 | UInt32(low),
            isMarked: first & 0x80 != 0, payload: payload)
    }
}
