internal import CMediaBridge

extension Pad {
    /// Calls `body` with the number of every RTP packet that passes, and whether it belongs to a key frame, on
    /// the streaming thread: it must return at once. The probe lives as long as the pad.
    package func onPacket(_ body: @escaping @Sendable ((number: UInt16, isKey: Bool)) -> Void) {
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { _, info, context in
                guard let info else { return GST_PAD_PROBE_OK }
                func tell(_ buffer: UnsafeMutablePointer<GstBuffer>?) {
                    guard let buffer, let number = buffer.word(at: 2) else { return }
                    let isDelta = gst_buffer_has_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) != 0
                    SignalListener<(number: UInt16, isKey: Bool)>.call(
                        context, (number: number, isKey: !isDelta))
                }
                if info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 {
                    let list = gst_pad_probe_info_get_buffer_list(info)
                    for place in 0..<(list.map { gst_buffer_list_length($0) } ?? 0) {
                        tell(gst_buffer_list_get(list, place))
                    }
                } else {
                    tell(gst_pad_probe_info_get_buffer(info))
                }
                return GST_PAD_PROBE_OK
            }, SignalListener<(number: UInt16, isKey: Bool)>.context(body),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }

    /// Calls `admits` for every packet of the payload type of packets that are sent again (RFC 4588); one that
    /// it does not admit is dropped. On the streaming thread: it must return at once.
    ///
    /// - Parameters:
    ///   - payload: The payload type.
    ///   - admits: Gets the size in bytes, and the number of the packet that is sent again.
    package func filterResent(
        _ payload: Int, _ admits: @escaping @Sendable (_ size: Int, _ number: UInt16) -> Bool
    ) {
        let filter = ResentFilter(payload: UInt16(truncatingIfNeeded: payload), admits: admits)
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, context in
                guard let info, let context, let buffer = gst_pad_probe_info_get_buffer(info) else {
                    return GST_PAD_PROBE_OK
                }
                let isAdmitted = Unmanaged<ResentFilter>.fromOpaque(context)
                    ._withUnsafeGuaranteedRef { $0.passes(buffer) }
                return isAdmitted ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
            }, Unmanaged.passRetained(filter).toOpaque(),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }

    /// Calls `isNew` with the number in a header extension of two bytes (RFC 8285, one-byte headers) of every
    /// packet; where it is not new, the extension is taken out. On the streaming thread: it must return at once.
    ///
    /// - Parameters:
    ///   - id: The local identifier of the extension, 1 to 14.
    ///   - isNew: Gets the number.
    package func filterNumbers(
        ofExtension id: Int, _ isNew: @escaping @Sendable (UInt16) -> Bool
    ) {
        let filter = NumberFilter(id: UInt8(truncatingIfNeeded: id), isNew: isNew)
        let mask = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
        _ = mb_pad_add_probe(
            pointer, GstPadProbeType(rawValue: mask),
            { _, info, context in
                guard let info, let context else { return GST_PAD_PROBE_OK }
                return Unmanaged<NumberFilter>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    filter in
                    guard
                        info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0
                    else { return filter.pass(gst_pad_probe_info_get_buffer(info)) }
                    let list = gst_pad_probe_info_get_buffer_list(info)
                    for place in 0..<(list.map { gst_buffer_list_length($0) } ?? 0)
                    where filter.pass(gst_buffer_list_get(list, place)) != GST_PAD_PROBE_OK {
                        return GST_PAD_PROBE_DROP
                    }
                    return GST_PAD_PROBE_OK
                }
            }, Unmanaged.passRetained(filter).toOpaque(),
            { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
    }

    private final class NumberFilter: Sendable {
        let id: UInt8
        let isNew: @Sendable (UInt16) -> Bool

        init(id: UInt8, isNew: @escaping @Sendable (UInt16) -> Bool) {
            (self.id, self.isNew) = (id, isNew)
        }

        func pass(_ buffer: UnsafeMutablePointer<GstBuffer>?) -> GstPadProbeReturn {
            guard let buffer, let first = buffer.word(at: 0), first & 0x1000 != 0 else {
                return GST_PAD_PROBE_OK
            }
            let header = 12 + 4 * Int(first >> 8 & 0x0f)
            guard buffer.word(at: header) == 0xbede, let words = buffer.word(at: header + 2) else {
                return GST_PAD_PROBE_OK
            }
            var (at, isFirst) = (header + 4, true)
            let end = at + 4 * Int(words)
            while at < end, let pair = buffer.word(at: at) {
                let (id, length) = (UInt8(pair >> 12), Int(pair >> 8 & 0x0f) + 1)
                if id == 15 { break }
                if id == 0 {
                    at += 1
                    continue
                }
                if id == self.id {
                    let number = length == 2 && isFirst ? buffer.word(at: at + 1) : nil
                    isFirst = false
                    if number.map(isNew) != true, !clear(buffer, at, min(end, at + 1 + length)) {
                        return GST_PAD_PROBE_DROP
                    }
                }
                at += 1 + length
            }
            return GST_PAD_PROBE_OK
        }

        /// Makes padding of bytes; false if they cannot be changed.
        private func clear(
            _ buffer: UnsafeMutablePointer<GstBuffer>, _ start: Int, _ end: Int
        ) -> Bool {
            let object = UnsafeMutableRawPointer(buffer).assumingMemoryBound(to: GstMiniObject.self)
            return gst_mini_object_is_writable(object) != 0
                && gst_buffer_memset(buffer, gsize(start), 0, gsize(end - start))
                    == gsize(end - start)
        }
    }

    private final class ResentFilter: Sendable {
        let payload: UInt16
        let admits: @Sendable (Int, UInt16) -> Bool

        init(payload: UInt16, admits: @escaping @Sendable (Int, UInt16) -> Bool) {
            (self.payload, self.admits) = (payload, admits)
        }

        func passes(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
            guard let first = buffer.word(at: 0), first & 0x7f == payload else { return true }
            // Behind the fixed header, the contributing sources and an extension stands the number.
            var offset = 12 + 4 * Int(first >> 8 & 0x0f)
            if first & 0x1000 != 0 {
                guard let words = buffer.word(at: offset + 2) else { return true }
                offset += 4 + 4 * Int(words)
            }
            guard let number = buffer.word(at: offset) else { return true }
            return admits(Int(gst_buffer_get_size(buffer)), number)
        }
    }
}

extension UnsafeMutablePointer<GstBuffer> {
    /// Two bytes, the higher one first; `nil` beyond the end.
    func word(at offset: Int) -> UInt16? {
        var bytes: (UInt8, UInt8) = (0, 0)
        let count = withUnsafeMutableBytes(of: &bytes) {
            gst_buffer_extract(self, gsize(offset), $0.baseAddress, 2)
        }
        return count == 2 ? UInt16(bytes.0) << 8 | UInt16(bytes.1) : nil
    }
}
