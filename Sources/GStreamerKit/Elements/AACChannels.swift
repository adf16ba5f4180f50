internal import CMediaBridge

extension Pad {
    /// The name of an aacparse that writes ADTS headers, whose sink needs ``describeAACChannels()``.
    package static let adtsWriter = "adts"

    /// Puts the description of the channels in front of each raw AAC unit whose caps have one, so that it is
    /// still there after aacparse has replaced the caps' codec data by ADTS headers: their three bits name the
    /// seven common layouts only. Decoders take the description in the unit before that of the header.
    ///
    /// aacparse (GStreamer 1.22 to 1.28) writes the number of channels into the header, where the
    /// standard demands zero. That is kept: aacparse itself reads no unit with zero.
    package func describeAACChannels() {
        addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
            guard let caps = gst_pad_get_current_caps(pad).map({ Caps(adopting: $0) }),
                let element = caps.codecData.flatMap({ programConfigElement(of: $0) }),
                let description = Buffer.copying(element),
                let memory = gst_buffer_get_all_memory(description.pointer),
                let unit = mb_pad_probe_own_buffer(info)
            else { return GST_PAD_PROBE_OK }
            gst_buffer_prepend_memory(unit, memory)
            return GST_PAD_PROBE_OK
        }
    }
}

/// Returns the channel description (program config element) of AAC codec data as the first element of a raw
/// unit; `nil` if the codec data name a common layout, or cannot be read.
///
/// Source: ISO/IEC 14496-3, tables 1.15 (`AudioSpecificConfig`), 4.1 (`GASpecificConfig`), 4.2
/// (`program_config_element`) and 4.3 (`raw_data_block`).
package func programConfigElement(of codecData: [UInt8]) -> [UInt8]? {
    var source = Bits(codecData)
    guard let type = source.read(5), (1...4).contains(type), let rate = source.read(4) else {
        return nil
    }
    if rate == 15, source.read(24) == nil { return nil }
    guard source.read(4) == 0, source.read(3) != nil else { return nil }
    var element = Bits([])
    element.write(5, 3)  // a program config element
    func copy(_ count: Int) -> Int? {
        guard let value = source.read(count) else { return nil }
        element.write(value, count)
        return value
    }
    // Its number, object type and sample rate.
    guard copy(10) != nil, let front = copy(4), let side = copy(4), let back = copy(4),
        let lowFrequency = copy(2), let data = copy(3), let coupling = copy(4)
    else { return nil }
    for mixdown in [4, 4, 3] {
        guard let isPresent = copy(1), isPresent == 0 || copy(mixdown) != nil else { return nil }
    }
    let fives = front + side + back + coupling
    for width in Array(repeating: 5, count: fives) + Array(repeating: 4, count: lowFrequency + data)
    {
        guard copy(width) != nil else { return nil }
    }
    element.align()
    element.write(0, 8)  // no comment
    return element.bytes
}

/// Reads and writes numbers of any number of bits, the highest bit first.
private struct Bits {
    private(set) var bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next number; `nil` beyond the end.
    mutating func read(_ count: Int) -> Int? {
        guard place + count <= 8 * bytes.count else { return nil }
        defer { place += count }
        return (place..<place + count).reduce(0) {
            $0 << 1 | Int(bytes[$1 / 8] >> UInt8(7 - $1 % 8) & 1)
        }
    }

    mutating func write(_ value: Int, _ count: Int) {
        for shift in (0..<count).reversed() {
            if place % 8 == 0 { bytes.append(0) }
            bytes[place / 8] |= UInt8(value >> shift & 1) << UInt8(7 - place % 8)
            place += 1
        }
    }

    mutating func align() { place = 8 * bytes.count }
}
