extension EncodedVideoFrame {
    /// What the first bytes of a unit announce.
    enum Content {
        case picture
        /// Valid but without visible output: parameter sets alone, or a picture that is only a
        /// reference for others.
        case hidden
        /// Not data of the codec.
        case garbage
    }

    /// Inspects the start of the unit; the cost is negligible compared with decoding.
    var content: Content {
        bytes.withUnsafeBytes { bytes in
            switch codec {
            case .h264: Self.h264Content(bytes)
            case .vp8: Self.vp8Content(bytes)
            case .mjpeg: Self.jpegContent(bytes)
            }
        }
    }

    /// Searches the NAL units for the first slice.
    private static func h264Content(_ bytes: UnsafeRawBufferPointer) -> Content {
        guard let first = bytes.firstIndex(where: { $0 != 0 }), first >= 2, bytes[first] == 1,
            first + 1 < bytes.count
        else { return .garbage }
        var header = first + 1
        while true {
            // `forbidden_zero_bit`, which is zero in every NAL unit.
            guard bytes[header] & 0x80 == 0 else { return .garbage }
            if (1...5).contains(bytes[header] & 0x1f) { return .picture }
            var zeros = 0
            var at = header + 1
            while at < bytes.count, !(zeros >= 2 && bytes[at] == 1) {
                zeros = bytes[at] == 0 ? zeros + 1 : 0
                at += 1
            }
            guard at + 1 < bytes.count else { return .hidden }
            header = at + 1
        }
    }

    /// Reads the frame tag of three bytes, and the start code that follows it in a key frame.
    private static func vp8Content(_ bytes: UnsafeRawBufferPointer) -> Content {
        guard bytes.count > 3 else { return .garbage }
        let isKey = bytes[0] & 1 == 0
        let version = bytes[0] >> 1 & 7
        let isShown = bytes[0] >> 4 & 1 == 1
        let firstPart = (Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16) >> 5
        let header = isKey ? 10 : 3
        guard version <= 3, firstPart > 0, firstPart <= bytes.count - header else {
            return .garbage
        }
        if isKey, bytes[3] != 0x9d || bytes[4] != 0x01 || bytes[5] != 0x2a { return .garbage }
        return isShown ? .picture : .hidden
    }

    /// Walks the segments up to the start of frame, which contains the picture size: a damaged size
    /// may make the decoder allocate gigabytes.
    private static func jpegContent(_ bytes: UnsafeRawBufferPointer) -> Content {
        guard bytes.count > 3, bytes[0] == 0xff, bytes[1] == 0xd8 else { return .garbage }
        var at = 2
        while at + 9 < bytes.count, bytes[at] == 0xff {
            let marker = bytes[at + 1]
            let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
            // SOF0 to SOF15, except for three markers in that range with another meaning (DHT, JPG,
            // DAC).
            if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) {
                let size = VideoSize(
                    width: Int(bytes[at + 7]) << 8 | Int(bytes[at + 8]),
                    height: Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]))
                return size.isValid ? .picture : .garbage
            }
            // A fill byte has no length field; every other segment has one.
            at += marker == 0xff ? 1 : 2 + max(2, length)
        }
        return .garbage
    }
}
