internal import FoundationEssentials
internal import MediaBasics

extension Recordings.File {
    /// Makes an animated GIF or WebP picture, which pages and issues show, of a part of the recording.
    ///
    /// A GIF has 256 colours, and is several times as large. The picture repeats without end.
    ///
    /// - Parameters:
    ///   - path: The file to write; it ends in `.gif` or `.webp`.
    ///   - begin: The time from the beginning of the file. Default zero.
    ///   - end: Default `nil`: the end of the file.
    ///   - width: The greatest width in pixels, from 16 to 1920; smaller pictures are not enlarged. Default 480.
    ///   - framesPerSecond: From 1 to 50. Default 12.5.
    ///   - whenExists: What to do if there is a file at `path`.
    /// - Returns: The file. Its pictures are shown for its duration in total, and its first one was captured when it
    ///   began.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/badValue`` for another ending, for more than 100 million
    ///   pixels, and for numbers out of range; ``PipelineError/Code/noFrames`` if there is no picture in that time.
    public func animation(
        into path: String, from begin: Duration = .zero, to end: Duration? = nil, width: Int = 480,
        framesPerSecond: Double = 12.5, whenExists: WhenExists = .fail
    ) async throws -> RecordedFile {
        guard let format = AnimatedFormat(path: path) else {
            throw PipelineError(
                .badValue, message: "not the name of an animated picture: \(path)",
                advice: "a name that ends in .gif or .webp")
        }
        try FileSize.requireUsableName(path)
        guard (16...1920).contains(width), (1...50).contains(framesPerSecond) else {
            throw PipelineError(
                .badValue,
                message:
                    "an animated picture \(width) wide of \(framesPerSecond) pictures per second "
                    + "is out of range", advice: "16 to 1920, and 1 to 50")
        }
        // Both formats count in hundredths of a second, or finer.
        let step = Int64((100 / framesPerSecond).rounded()) * 10_000_000
        let from = MediaTime(begin).nanoseconds
        let to = min(end.map { MediaTime($0).nanoseconds } ?? .max, MediaTime(duration).nanoseconds)
        let count = Int((max(0, to - from) + step - 1) / step)
        guard count > 0 else {
            throw PipelineError(
                .noFrames, message: "\(self.path) has no picture in that time",
                advice: "it lasts \(duration)")
        }
        let size = pictureSize(width: width)
        guard count * size.width * size.height <= 100_000_000 else {
            throw PipelineError(
                .badValue,
                message: "\(count) pictures of \(size.width)x\(size.height) are too many for an "
                    + "animated picture",
                advice: "a shorter part, smaller pictures, or fewer per second")
        }
        let times = (0..<count).map { from + step * Int64($0) }
        let pictures = try await pictures(at: times, size: size)
        let bytes = try format.encode(pictures, milliseconds: Int(step / 1_000_000))
        let draft = try FileDraft(writing: path, overwrites: whenExists == .overwrite)
        defer { draft?.discard() }
        let location = draft?.claim.location ?? path
        try Data(bytes).write(to: URL(fileURLWithPath: location))
        if FileSize.of(location) != nil {
            guard try Data(contentsOf: URL(fileURLWithPath: location)) == Data(bytes) else {
                throw PipelineError(
                    .resourceFailed, message: "\"\(path)\" was written, but is incomplete",
                    advice: "check the disk, and whether another program writes to the file")
            }
        }
        try draft?.publish()
        return RecordedFile(
            path: path, frames: pictures.count, began: Date(nanosecondsSince1970: date + from),
            duration: .nanoseconds(step * Int64(count)), bytes: bytes.count, marks: [],
            failure: nil)
    }
}

/// The formats of animated pictures.
package enum AnimatedFormat {
    case gif, webp

    /// `nil` if the extension is of no format.
    package init?(path: String) {
        let name = path.lowercased()
        if name.hasSuffix(".gif") {
            self = .gif
        } else if name.hasSuffix(".webp") {
            self = .webp
        } else {
            return nil
        }
    }

    /// - Parameter milliseconds: How long each picture is shown.
    func encode(_ pictures: [VideoFrame], milliseconds: Int) throws -> [UInt8] {
        switch self {
        case .gif: try GIFEncoder(pictures).encode(delay: milliseconds / 10)
        case .webp: try Self.webP(pictures, milliseconds: milliseconds)
        }
    }

    /// Source: developers.google.com/speed/webp/docs/riff_container (`VP8X`, `ANIM`, `ANMF`).
    private static func webP(_ pictures: [VideoFrame], milliseconds: Int) throws -> [UInt8] {
        try ElementFactory.require("webpenc")
        let encoder = try ElementChain("videoconvert ! webpenc quality=75")
        let size = pictures[0].size
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            name.utf8 + number(content.count, 4) + content
                + [UInt8](repeating: 0, count: content.count % 2)
        }
        let canvas = number(size.width - 1, 3) + number(size.height - 1, 3)
        var content = Array("WEBP".utf8)
        content += chunk("VP8X", [2, 0, 0, 0] + canvas)
        content += chunk("ANIM", [0, 0, 0, 0, 0, 0])
        for picture in pictures {
            let wrapped = try picture.wrapped()
            let unit = try encoder.process(wrapped.buffer.retained(), caps: wrapped.caps)
            let sample = MediaSample(
                unit.buffer.retained(), caps: unit.caps, runningTime: nil, liveTiming: nil)
            let file = EncodedVideoFrame(sample, rotation: .upright).bytes
            // Without the header of a file. A picture without alpha has one chunk.
            let head = number(0, 6) + canvas + number(milliseconds, 3) + [2]
            content += chunk("ANMF", head + file.dropFirst(12))
        }
        return Array("RIFF".utf8) + number(content.count, 4) + content
    }
}

/// Encodes animated GIF pictures with one table of colours for all.
///
/// Source: GIF89a specification, W3C; the loop is Netscape's application extension.
private struct GIFEncoder {
    private let size: VideoSize
    /// The colours of each picture, by their five highest bits of red, green and blue.
    private var pictures: [[UInt16]] = []
    private var palette: [UInt16] = []
    /// The place in the palette of each colour.
    private var places = [UInt8](repeating: 0, count: 1 << 15)
    /// Stands for the pixel of the picture before.
    private static let transparent: UInt8 = 255

    init(_ frames: [VideoFrame]) throws {
        size = frames[0].size
        for frame in frames {
            pictures.append(try Self.colours(of: frame))
        }
        choosePalette()
    }

    private static func colours(of frame: VideoFrame) throws -> [UInt16] {
        let size = frame.size
        var colours: [UInt16] = []
        colours.reserveCapacity(size.width * size.height)
        try frame.withPlanes { planes in
            for y in 0..<size.height {
                planes[0].row(y).withUnsafeBytes { row in
                    for x in 0..<size.width {
                        let (red, green) = (UInt16(row[4 * x + 2]), UInt16(row[4 * x + 1]))
                        let blue = UInt16(row[4 * x])
                        colours.append((red & 0xf8) << 7 | (green & 0xf8) << 2 | blue >> 3)
                    }
                }
            }
        }
        return colours
    }

    private static func parts(_ colour: UInt16) -> [Int] {
        [Int(colour >> 10), Int(colour >> 5 & 31), Int(colour & 31)]
    }

    /// Divides the colours into 255 groups by median cut. Each group is shown by its mean.
    private mutating func choosePalette() {
        var counts = [Int](repeating: 0, count: 1 << 15)
        for picture in pictures { for colour in picture { counts[Int(colour)] += 1 } }
        typealias Group = (colours: [UInt16], part: Int, width: Int)
        func group(_ colours: [UInt16]) -> Group {
            let widths = (0..<3).map { part in
                let values = colours.map { Self.parts($0)[part] }
                return (values.max() ?? 0) - (values.min() ?? 0)
            }
            let part = widths.indices.max { widths[$0] < widths[$1] } ?? 0
            return (colours, part, widths[part])
        }
        var groups = [group(counts.indices.filter { counts[$0] > 0 }.map { UInt16($0) })]
        while groups.count < 255,
            let place = groups.indices.max(by: { groups[$0].width < groups[$1].width }),
            groups[place].width > 0
        {
            let (colours, part, _) = groups.remove(at: place)
            let sorted = colours.sorted { Self.parts($0)[part] < Self.parts($1)[part] }
            var left = colours.reduce(0) { $0 + counts[Int($1)] } / 2
            var cut = 0
            while cut < sorted.count - 1, cut == 0 || left > 0 {
                left -= counts[Int(sorted[cut])]
                cut += 1
            }
            groups += [group(Array(sorted[..<cut])), group(Array(sorted[cut...]))]
        }
        for (place, group) in groups.enumerated() {
            var (sums, total) = ([0, 0, 0], 0)
            for colour in group.colours {
                let count = counts[Int(colour)]
                for (part, value) in Self.parts(colour).enumerated() { sums[part] += value * count }
                total += count
                places[Int(colour)] = UInt8(place)
            }
            let mean = sums.map { UInt16(($0 + total / 2) / max(total, 1)) }
            palette.append(mean[0] << 10 | mean[1] << 5 | mean[2])
        }
    }

    /// - Parameter delay: How long each picture is shown, in hundredths of a second.
    func encode(delay: Int) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [UInt8(value & 0xff), UInt8(value >> 8 & 0xff)] }
        var bytes = Array("GIF89a".utf8) + number(size.width) + number(size.height) + [0xf7, 0, 0]
        for place in 0..<256 {
            let colour = place < palette.count ? palette[place] : 0
            bytes += Self.parts(colour).map { UInt8($0 << 3 | $0 >> 2) }
        }
        bytes += [0x21, 0xff, 11] + "NETSCAPE2.0".utf8 + [3, 1, 0, 0, 0]
        var shown: [UInt8] = []
        for picture in pictures {
            let own = picture.map { places[Int($0)] }
            let changes =
                shown.isEmpty
                ? own : zip(own, shown).map { $0 == $1 ? Self.transparent : $0 }
            shown = own
            // The picture before stays; transparent pixels show it.
            bytes += [0x21, 0xf9, 4, 0x05] + number(delay) + [Self.transparent, 0]
            bytes += [0x2c, 0, 0, 0, 0] + number(size.width) + number(size.height) + [0, 8]
            let data = Self.compressed(changes)
            for start in stride(from: 0, to: data.count, by: 255) {
                let block = data[start..<min(start + 255, data.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return bytes + [0x3b]
    }

    /// Compresses with LZW: codes of 9 to 12 bits, the lowest bit first.
    private static func compressed(_ pixels: [UInt8]) -> [UInt8] {
        let (clear, end) = (256, 257)
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        var (table, next, width) = ([Int: Int](), 258, 9)
        func write(_ code: Int) {
            bits |= code << count
            count += width
            while count >= 8 {
                bytes.append(UInt8(bits & 0xff))
                bits >>= 8
                count -= 8
            }
        }
        write(clear)
        var prefix = Int(pixels.first ?? 0)
        for pixel in pixels.dropFirst() {
            let key = prefix << 8 | Int(pixel)
            if let code = table[key] {
                prefix = code
                continue
            }
            write(prefix)
            table[key] = next
            next += 1
            if next > 1 << width, width < 12 { width += 1 }
            if next == 4096 {
                write(clear)
                (table, next, width) = ([:], 258, 9)
            }
            prefix = Int(pixel)
        }
        write(prefix)
        write(end)
        if count > 0 { bytes.append(UInt8(bits & 0xff)) }
        return bytes
    }
}
