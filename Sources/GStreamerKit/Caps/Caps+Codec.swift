internal import CMediaBridge

/// Properties of encoded media in caps.
extension Caps {
    /// The `codec_data` of the first structure; `nil` if it has none.
    package var codecData: [UInt8]? {
        guard let structure, let value = gst_structure_get_value(structure, "codec_data"),
            let boxed = mb_value_buffer(value)
        else { return nil }
        return Self.bytes(of: boxed)
    }

    /// Width and height in the first structure, in pixels; `nil` unless both are present.
    package var pictureSize: (width: Int, height: Int)? {
        guard let width = integer("width"), let height = integer("height") else { return nil }
        return (width, height)
    }

    /// Sample rate in Hz and number of channels in the first structure; `nil` for a missing value.
    package var soundFormat: (rate: Int?, channels: Int?) { (integer("rate"), integer("channels")) }

    /// Whether the first structure is MPEG audio of version 1: MP3.
    package var isMPEG1Sound: Bool { integer("mpegversion") == 1 }

    private func integer(_ field: String) -> Int? {
        var value: gint = 0
        guard let structure, gst_structure_get_int(structure, field, &value) != 0 else {
            return nil
        }
        return Int(value)
    }

    /// Returns bytes as the text of a field of type buffer.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns a copy of the bytes of a buffer in a field.
    static func bytes(of buffer: UnsafeMutablePointer<GstBuffer>) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(gst_buffer_get_size(buffer)))
        let count = bytes.withUnsafeMutableBytes {
            gst_buffer_extract(buffer, 0, $0.baseAddress, gsize($0.count))
        }
        return Int(count) == bytes.count ? bytes : nil
    }
}
