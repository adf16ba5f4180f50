/// The light of HDR pictures: of the display on which they were graded, and the highest that occurs.
struct PictureLight: Sendable {
    /// The primaries of red, green and blue, and the white point: x and y of each in units of 0.00002. Then the
    /// highest and the lowest luminance, in units of 0.0001 cd/m².
    private let display: [Int]?
    /// The highest luminance of a pixel, and the highest average of a picture, in cd/m².
    private let content: [Int]?

    /// Reads the caps of a stream; `nil` if they state no light.
    init?(_ caps: Caps?) {
        display = caps?.masteringDisplay
        content = caps?.contentLight
        if display == nil, content == nil { return nil }
    }

    /// The highest and the lowest luminance of the display, in cd/m².
    var luminance: (highest: Double, lowest: Double)? {
        display.map { (Double($0[8]) / 10_000, Double($0[9]) / 10_000) }
    }

    /// The boxes for the sample description of an MPEG-4 file, by type.
    ///
    /// Source: ISO/IEC 14496-12, section 12.1.6 (`mdcv`, with green first, and `clli`).
    var boxes: [(type: String, bytes: [UInt8])] {
        var boxes: [(type: String, bytes: [UInt8])] = []
        func add(_ type: String, _ content: [UInt8]) {
            boxes.append((type, UInt32(8 + content.count).bytes + type.utf8 + content))
        }
        if let display {
            let chromaticity = (display[2..<6] + display[0..<2] + display[6..<8]).map {
                UInt16(clamping: $0)
            }
            add("mdcv", chromaticity.bytes + display[8..<10].map { UInt32(clamping: $0) }.bytes)
        }
        if let content { add("clli", content.map { UInt16(clamping: $0) }.bytes) }
        return boxes
    }
}
