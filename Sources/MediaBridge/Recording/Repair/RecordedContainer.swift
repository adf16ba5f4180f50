internal import Glibc

/// The container of a file, determined by its content: a recording may have any name.
struct RecordedContainer: Sendable {
    let container: RecordingContainer
    /// How to read an MPEG-4 file that was not finished; `nil` for any other file.
    var fragments: FragmentReading?

    /// Reads the beginning of a file, and for MPEG-4 its boxes.
    static func of(_ path: String) throws(PipelineError) -> RecordedContainer {
        let file = try open(path)
        defer { fclose(file) }
        var head = [UInt8](repeating: 0, count: 512)
        let count = fread(&head, 1, head.count, file)
        if ferror(file) != 0 {
            throw PipelineError(
                .resourceFailed,
                message: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        head = Array(head[..<count])
        if head.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) {
            let isWebM = head.indices.contains { head[$0...].starts(with: Array("webm".utf8)) }
            return RecordedContainer(container: isWebM ? .webm : .mkv)
        }
        if head.dropFirst(4).starts(with: Array("ftyp".utf8)) {
            return RecordedContainer(
                container: .mp4, fragments: try MovieBoxes(of: file, path).fragmentReading)
        }
        if head.first == 0x47, head.count > 188, head[188] == 0x47 {
            return RecordedContainer(container: .ts)
        }
        throw PipelineError(
            .streamFailed,
            message: count == 0
                ? "\(path) is empty: nothing was recorded"
                : "\(path) is not a recording in Matroska, WebM, MPEG-4 or MPEG transport stream",
            advice: count == 0 ? nil : "run file \(path) to identify it")
    }

    /// Opens a regular file only: opening a named pipe would block, and a device has no end.
    private static func open(_ path: String) throws(PipelineError) -> UnsafeMutablePointer<FILE> {
        let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PipelineError(
                .notFound, message: "cannot read \(path): \(String(cString: strerror(errno)))",
                advice: "check the path")
        }
        var about = stat()
        guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw PipelineError(
                .badValue, message: "\(path) is not a file", advice: "a recording on a disk")
        }
        guard let file = fdopen(descriptor, "r") else {
            close(descriptor)
            throw PipelineError(
                .resourceFailed,
                message: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        return file
    }
}

// MARK: - MPEG-4

/// Reads the boxes of an MPEG-4 file that a repair needs.
private struct MovieBoxes {
    private let index: [UInt8]
    /// The offset of the index (`moov`) in the file.
    private let place: Int
    private let hasFragments: Bool

    /// The maximum size of an index in bytes; a larger one is ignored.
    private static let largestIndex = 256 << 20

    /// Throws if the file has no index, which a muxer writes last, unless it writes fragments.
    init(of file: UnsafeMutablePointer<FILE>, _ path: String) throws(PipelineError) {
        fseeko(file, 0, SEEK_END)
        let end = Int(ftello(file))
        var position = 0
        var found: (place: Int, size: Int)?
        var hasFragments = false
        while position <= end - 8, fseeko(file, position, SEEK_SET) == 0 {
            var header = [UInt8](repeating: 0, count: 16)
            guard fread(&header, 1, 16, file) >= 8 else { break }
            var size = Self.number(header[..<4])
            if size == 1 { size = Self.number(header[8..<16]) }
            let (next, overflow) = position.addingReportingOverflow(size)
            // A size of zero means: to the end of the file.
            guard size >= 8, !overflow else { break }
            guard !Task.isCancelled else {
                throw PipelineError(.interrupted, message: "the repair of \(path) was cancelled")
            }
            let type = header[4..<8]
            if type.elementsEqual("moov".utf8), next <= end, size <= Self.largestIndex {
                found = (position, size)
            }
            if type.elementsEqual("moof".utf8) { hasFragments = true }
            position = next
        }
        guard let found else {
            throw PipelineError(
                .streamFailed,
                message: "\(path) has no index, and cannot be repaired: the muxer writes the index "
                    + "last. Without it, the position and the codec data of the frames are unknown",
                advice: "for the next recording, gst-bridge record or mp4mux fragment-duration=500 "
                    + "fragment-mode=dash-or-mss")
        }
        var bytes = [UInt8](repeating: 0, count: found.size)
        fseeko(file, found.place, SEEK_SET)
        guard fread(&bytes, 1, found.size, file) == found.size else {
            throw PipelineError(
                .resourceFailed, message: "cannot read the index of \(path)",
                advice: "check that no other program writes to the file")
        }
        index = bytes
        place = found.place
        self.hasFragments = hasFragments
    }

    /// How to read the file if it has fragments, or was meant to have them; `nil` for any other
    /// file.
    var fragmentReading: FragmentReading? {
        let movie = 8..<index.count
        guard hasFragments || box("mvex", in: movie) != nil else { return nil }
        var reading = FragmentReading(patches: [:], delays: [:])
        var numbers: [String: Int] = [:]
        let movieScale = box("mvhd", in: movie).map { scale(of: $0) } ?? 1000
        for track in boxes(in: movie) where track.type == "trak" {
            guard let media = box("mdia", in: track.content),
                let kind = box("hdlr", in: media).flatMap({ self.kind(of: $0) })
            else { continue }
            let pad = "\(kind)_\(numbers[kind, default: 0])"
            numbers[kind, default: 0] += 1
            guard let edits = boxes(in: track.content).first(where: { $0.type == "edts" }) else {
                continue
            }
            reading.patches[place + edits.content.lowerBound - 4] = Array("free".utf8)
            guard let list = box("elst", in: edits.content) else { continue }
            let mediaScale = box("mdhd", in: media).map { scale(of: $0) } ?? movieScale
            reading.delays[pad] = delay(list, movieScale, mediaScale)
        }
        // For audio, the edit list skips the samples that prime the decoder. mp4mux would drop
        // these: to keep every block, all tracks are delayed by their duration.
        let sound = reading.delays.filter { $0.key.hasPrefix("audio_") }.values.min() ?? 0
        if sound < 0 {
            for number in numbers.flatMap({ kind, count in (0..<count).map { "\(kind)_\($0)" } }) {
                reading.delays[number, default: 0] -= sound
            }
        }
        return reading
    }

    // MARK: Boxes

    private typealias Box = (type: String, content: Range<Int>)

    private func boxes(in range: Range<Int>) -> [Box] {
        var found: [Box] = []
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            let size = Self.number(index[position..<position + 4])
            guard size >= 8, size <= range.upperBound - position else { break }
            let type = String(decoding: index[position + 4..<position + 8], as: UTF8.self)
            found.append((type, position + 8..<position + size))
            position += size
        }
        return found
    }

    private func box(_ type: String, in range: Range<Int>) -> Range<Int>? {
        boxes(in: range).first { $0.type == type }?.content
    }

    /// Returns the timescale in an `mvhd` or `mdhd` box, in units per second.
    private func scale(of header: Range<Int>) -> Int {
        let isLong = header.isEmpty ? false : index[header.lowerBound] == 1
        return max(1, field(header, isLong ? 20 : 12, 4) ?? 1)
    }

    /// Returns the prefix of the demuxer's pad names for a track's handler; `nil` for an unknown
    /// kind.
    private func kind(of handler: Range<Int>) -> String? {
        guard handler.count >= 12 else { return nil }
        let start = handler.lowerBound + 8
        switch String(decoding: index[start..<start + 4], as: UTF8.self) {
        case "vide": return "video"
        case "soun": return "audio"
        default: return nil
        }
    }

    /// Returns the delay that an edit list describes, in nanoseconds: the initial empty edits,
    /// minus the part of the media that is skipped.
    private func delay(_ list: Range<Int>, _ movieScale: Int, _ mediaScale: Int) -> Int64 {
        let isLong = list.isEmpty ? false : index[list.lowerBound] == 1
        let (width, size) = isLong ? (8, 20) : (4, 12)
        var silence = 0
        for entry in 0..<min(list.count, field(list, 4, 4) ?? 0) {
            let start = 8 + entry * size
            guard let duration = field(list, start, width),
                let raw = field(list, start + width, width)
            else { break }
            let time = isLong ? raw : Int(Int32(truncatingIfNeeded: raw))
            if time < 0 {
                let (sum, overflow) = silence.addingReportingOverflow(max(0, duration))
                // No recording has so long a delay, so the list is ignored.
                guard !overflow else { return 0 }
                silence = sum
                continue
            }
            return Self.nanoseconds(silence, movieScale) - Self.nanoseconds(time, mediaScale)
        }
        return Self.nanoseconds(silence, movieScale)
    }

    /// Returns a number in a box; `nil` beyond the end of the box.
    private func field(_ box: Range<Int>, _ offset: Int, _ width: Int) -> Int? {
        let start = box.lowerBound + offset
        guard start + width <= box.upperBound else { return nil }
        return Self.number(index[start..<start + width])
    }

    /// Rounds down, as qtdemux does: with half a nanosecond more, the first picture would be cut
    /// off.
    private static func nanoseconds(_ count: Int, _ scale: Int) -> Int64 {
        guard count > 0, count / scale < 1_000_000_000 else { return 0 }
        let product = count.multipliedFullWidth(by: 1_000_000_000)
        return Int64(scale.dividingFullWidth(product).quotient)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
