extension EncodedVideoFrame {
    /// What a unit's first bytes promise.
    enum Content {
        case picture
        /// Right, and not to be seen: parameter sets alone, or a picture that only others build on.
        case hidden
        /// Not of the codec at all.
        case garbage
    }

    /// A look at the start of the unit; it costs nothing beside the decoder.
    var content: Content {
        bytes.withUnsafeBytes { bytes in
            switch codec {
            case .h264: Self.h264Content(bytes)
            case .vp8: Self.vp8Content(bytes)
            case .mjpeg:
                bytes.count > 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff
                    ? .picture : .garbage
            }
        }
    }

    /// Looks for the first slice behind the start codes.
    private static func h264Content(_ bytes: UnsafeRawBufferPointer) -> Content {
        guard let first = bytes.firstIndex(where: { $0 != 0 }), first >= 2, bytes[first] == 1,
            first + 1 < bytes.count
        else { return .garbage }
        var header = first + 1
        while true {
            // The bit that every unit has as zero.
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

    /// Reads the frame tag of three bytes, and the start code of a key frame behind it.
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
}
