internal import Glibc
internal import MediaBasics

/// Turns a complete fragmented MPEG-4 file into an ordinary one, with a single index of all samples
/// and no fragments, which every editor opens. No media is copied.
///
/// The new index is appended as a `free` box, which readers skip. One write then makes it a `moov`
/// box, beside the old one, which comes first and still counts. A last one, of 16 bytes, makes the
/// old index the beginning of an `mdat` box that contains all fragments. A process that is killed in
/// between leaves a file that plays: before the last write a fragmented one, then an ordinary one. So
/// does a power failure, because each write reaches the disk before the next.
///
/// Source: ISO/IEC 14496-12, sections 8.2 (`moov`), 8.6 (`stts`, `ctts`, `stss`, `elst`), 8.7 (`stsc`,
/// `stsz`, `co64`) and 8.8 (`trex`, `tfhd`, `tfdt`, `trun`).
struct MovieFinish {
    private typealias Box = MovieBox<[UInt8]>
    private let path: String
    private let file: FileBytes
    private let movie: (box: Box, place: Int)
    /// By track number.
    private var tracks: [UInt32: SampleTable] = [:]

    /// Units per second of the new index's own times: fine enough for the start of each stream.
    private static let timescale: UInt64 = 90_000

    /// Reads the index and the fragments of a file; `nil` if it has none, and is ordinary already.
    init?(_ path: String) throws(PipelineError) {
        self.path = path
        let file = try FileBytes(path)
        var first: (Box, Int)?
        var fragments: [(place: Int, size: Int)] = []
        try file.forEachBox { type, place, size in
            guard place + size <= file.count else { return }
            if type == "moov", first == nil, let bytes = file.read(size, at: place) {
                first = (Box(bytes: bytes, type: type, content: 8..<bytes.count), place)
            }
            if type == "moof" { fragments.append((place, size)) }
        }
        guard let first, !fragments.isEmpty else { return nil }
        self.file = file
        movie = first
        for trak in movie.box.children("trak") {
            guard let header = trak.child("tkhd") else { continue }
            tracks[header.numberAfterTimes] = SampleTable()
        }
        for defaults in movie.box.children("mvex").flatMap({ $0.children("trex") }) {
            tracks[defaults.number32(at: 4)]?.defaults = .init(
                duration: defaults.number32(at: 12), size: defaults.number32(at: 16),
                flags: defaults.number32(at: 20))
        }
        for (place, size) in fragments {
            guard let bytes = file.read(size, at: place), bytes.count == size else {
                throw bad("a fragment cannot be read")
            }
            try add(Box(bytes: bytes, type: "moof", content: 8..<size), at: place)
        }
        stretchShortTracks()
    }

    /// Makes GStreamer's qtdemux read tracks that last less than a fifth of the movie, which it takes
    /// for preview images: their last sample gets a longer duration, and an edit list that ends at
    /// the old one.
    private mutating func stretchShortTracks() {
        let longest = duration
        for trak in movie.box.children("trak") {
            guard let header = trak.child("tkhd"), let media = trak.child("mdia")?.child("mdhd")
            else { continue }
            let (high, low) = longest.multipliedFullWidth(by: UInt64(media.numberAfterTimes))
            guard high < Self.timescale else { continue }
            let whole = Self.timescale.dividingFullWidth((high, low)).quotient
            tracks[header.numberAfterTimes]?.last(atLeast: whole / 5 + 1)
        }
    }

    /// When the last track ends, in nanoseconds.
    var end: Int64 {
        Int64(clamping: duration.multipliedReportingOverflow(by: 100_000).partialValue / 9)
    }

    /// When the last track ends, in the movie's units.
    private var duration: UInt64 {
        movie.box.children("trak").map { trak in
            trak.child("tkhd").map { span(of: $0.numberAfterTimes, trak).total } ?? 0
        }.max() ?? 0
    }

    private mutating func add(_ fragment: Box, at place: Int) throws(PipelineError) {
        /// The end of the data of the track before, in the same fragment.
        var end = place
        for traf in fragment.children("traf") {
            guard let header = traf.child("tfhd"), var table = tracks[header.number32(at: 4)]
            else { throw bad("a fragment belongs to no track") }
            let flags = header.number32(at: 0) & 0xff_ffff
            var at = 8
            func next(_ flag: UInt32, width: Int = 4) -> Int? {
                guard flags & flag != 0 else { return nil }
                defer { at += width }
                return header.number(at: at, width: width)
            }
            let base = next(0x1, width: 8) ?? (flags & 0x20000 != 0 ? place : end)
            guard (0...file.count).contains(base) else { throw bad("its data is not in the file") }
            if next(0x2).map({ $0 != 1 }) == true { throw bad("its codec data changes") }
            let defaults = SampleTable.Defaults(
                duration: next(0x8).map { UInt32($0) } ?? table.defaults.duration,
                size: next(0x10).map { UInt32($0) } ?? table.defaults.size,
                flags: next(0x20).map { UInt32($0) } ?? table.defaults.flags)
            if let time = traf.child("tfdt"),
                let start = time.number(at: 4, width: time.version == 1 ? 8 : 4)
            {
                table.begin(at: UInt64(bitPattern: Int64(start)))
            }
            end = base
            for run in traf.children("trun") {
                guard let reached = table.add(run, base, end, defaults, limit: file.count) else {
                    throw bad("a fragment ends beyond the file")
                }
                end = reached
            }
            tracks[header.number32(at: 4)] = table
        }
    }

    /// Changes the file. Calls `onFlush` while the disk takes its data.
    ///
    /// - Parameter marks: Become its chapters; the first 255 of them.
    func run(
        marks: [RecorderReport.Mark] = [], onFlush: () -> Void = {}
    ) throws(PipelineError) {
        let index = newIndex(marks)
        var hidden = index
        hidden.replaceSubrange(4..<8, with: "free".utf8)
        let span = UInt64(file.count - movie.place)
        let steps = [
            (file.count, hidden), (file.count + 4, Array("moov".utf8)),
            (movie.place, [0, 0, 0, 1] + Array("mdat".utf8) + span.bytes),
        ]
        if let reason = file.change(steps, onFlush: onFlush) { throw bad(reason) }
    }

    private func bad(_ reason: String) -> PipelineError {
        PipelineError(
            .resourceFailed,
            message: "the fragments of \"\(path)\" cannot be made one index: \(reason). The file "
                + "is complete, and plays",
            advice: "record with --fragmented, or run gst-bridge repair later")
    }

    // MARK: The new index

    private func newIndex(_ marks: [RecorderReport.Mark]) -> [UInt8] {
        let longest = duration
        let chapters = marks.isEmpty ? [] : Self.chapters(marks)
        let hasUserData = movie.box.child("udta") != nil
        return Box.make("moov") { content in
            for child in movie.box.children {
                switch child.type {
                case "mvhd":
                    content += child.dated(duration: longest, timescale: Self.timescale)
                case "trak": content += track(child)
                case "mvex", "free": break
                case "udta":
                    content += Box.make("udta") { $0 += child.bytes[child.content] + chapters }
                default: content += child.whole
                }
            }
            if !hasUserData, !marks.isEmpty { content += Box.make("udta") { $0 += chapters } }
        }
    }

    /// Returns a list of chapters in the form that players read, which Nero introduced: times in
    /// units of 100 ns, names of at most 255 bytes.
    private static func chapters(_ marks: [RecorderReport.Mark]) -> [UInt8] {
        let marks = marks.prefix(255)
        return Box.make("chpl") { content in
            content += [1, 0, 0, 0, 0, 0, 0, 0, UInt8(marks.count)]
            for mark in marks {
                var name = Substring(mark.name)
                while name.utf8.count > 255 { name = name.dropLast() }
                content += UInt64(clamping: MediaTime(mark.time).nanoseconds / 100).bytes
                content += [UInt8(name.utf8.count)] + name.utf8
            }
        }
    }

    /// Returns when a track is first presented, how long its samples last, and the sum, in the movie's units.
    private func span(of number: UInt32, _ trak: Box) -> (
        start: UInt64, length: UInt64, total: UInt64
    ) {
        let scale = UInt64(trak.child("mdia")?.child("mdhd")?.numberAfterTimes ?? 1)
        func scaled(_ time: UInt64) -> UInt64 {
            let (high, low) = time.multipliedFullWidth(by: Self.timescale)
            return high < scale ? scale.dividingFullWidth((high, low)).quotient : 0
        }
        guard let table = tracks[number], scale > 0 else { return (0, 0, 0) }
        let start = scaled(table.start &+ table.firstOffset)
        let length = scaled(table.duration)
        return (start, length, start &+ length)
    }

    private func track(_ trak: Box) -> [UInt8] {
        guard let header = trak.child("tkhd"), let table = tracks[header.numberAfterTimes] else {
            return trak.whole
        }
        let span = span(of: header.numberAfterTimes, trak)
        return Box.make("trak") { content in
            for child in trak.children {
                switch child.type {
                case "tkhd":
                    content += child.dated(duration: span.total, timescale: nil)
                    if trak.child("edts") == nil, span.start > 0 || table.isStretched {
                        content += Self.edits(span.start, span.length, table.firstOffset)
                    }
                case "mdia":
                    content += child.replacing(["minf", "stbl"]) { box in
                        switch box.type {
                        case "mdhd": box.dated(duration: table.mediaDuration, timescale: nil)
                        case "stsd": box.whole + table.boxes
                        case "stts", "ctts", "stss", "stsc", "stsz", "stco", "co64": []
                        default: box.whole
                        }
                    }
                default: content += child.whole
                }
            }
        }
    }

    /// Returns an edit list that delays a track, begins with its first picture in the order of
    /// presentation, and ends after `length`.
    private static func edits(_ start: UInt64, _ length: UInt64, _ offset: UInt64) -> [UInt8] {
        Box.make("edts") { content in
            content += Box.make("elst") {
                $0 += [1, 0, 0, 0] + UInt32(start > 0 ? 2 : 1).bytes
                if start > 0 { $0 += start.bytes + UInt64.max.bytes + [0, 1, 0, 0] }
                $0 += length.bytes + offset.bytes + [0, 1, 0, 0]
            }
        }
    }
}

// MARK: - Samples

/// The samples of one track.
private struct SampleTable {
    struct Defaults {
        var duration: UInt32 = 0
        var size: UInt32 = 0
        var flags: UInt32 = 0
    }
    /// Values that repeat, with the number of repetitions.
    private struct Runs {
        var values: [(count: UInt32, value: UInt32)] = []

        mutating func append(_ value: UInt32) {
            if let last = values.last, last.value == value {
                values[values.count - 1].count += 1
            } else {
                values.append((1, value))
            }
        }

        /// Changes the last value.
        mutating func replaceLast(_ change: (UInt32) -> UInt32) {
            guard let last = values.last else { return }
            values[values.count - 1].count -= 1
            if last.count == 1 { values.removeLast() }
            append(change(last.value))
        }

        var bytes: [UInt8] {
            UInt32(values.count).bytes + values.flatMap { [$0.count, $0.value] }.bytes
        }
    }

    /// The values of `trex`.
    var defaults = Defaults()
    /// When the first sample is decoded, and how long all last, in the track's units.
    private(set) var start: UInt64 = 0
    private(set) var duration: UInt64 = 0
    /// How long the last sample was made longer.
    private var stretch: UInt64 = 0
    var isStretched: Bool { stretch > 0 }
    var mediaDuration: UInt64 { duration &+ stretch }
    private var durations = Runs()
    private var offsets = Runs()
    private var hasNegativeOffset = false
    /// How much later than it is decoded the first sample is presented.
    var firstOffset: UInt64 {
        UInt64(clamping: Int32(bitPattern: offsets.values.first?.value ?? 0))
    }
    private var sizes: [UInt32] = []
    private var keys: [UInt32] = []
    private var chunks: [UInt64] = []
    /// The number of samples in each chunk.
    private var chunkSizes = Runs()

    /// Begins a fragment. A gap before it lengthens the last sample, an overlap shortens it.
    mutating func begin(at time: UInt64) {
        guard !sizes.isEmpty else {
            start = time
            return
        }
        let end = start &+ duration
        guard end != time else { return }
        var last: UInt32 = 0
        durations.replaceLast { value in
            last = value
            let wanted = Int64(value) &+ Int64(bitPattern: time &- end)
            return UInt32(clamping: max(0, wanted))
        }
        duration = duration - UInt64(last) + UInt64(durations.values.last?.value ?? 0)
    }

    /// Makes the last sample longer, so that all together last at least so long.
    mutating func last(atLeast wanted: UInt64) {
        guard duration > 0, wanted > duration else { return }
        let missing = wanted - duration
        durations.replaceLast { value in
            let (sum, overflow) = value.addingReportingOverflow(UInt32(clamping: missing))
            return overflow ? value : sum
        }
        stretch = missing
    }

    /// Adds the samples of a `trun` box.
    ///
    /// - Parameters:
    ///   - base: The offset in the file to which the box's data offset is added.
    ///   - next: The offset of its data if it has none.
    ///   - limit: The size of the file.
    /// - Returns: The offset of the end of its data; `nil` if it is not in the file.
    mutating func add(
        _ run: MovieBox<[UInt8]>, _ base: Int, _ next: Int, _ defaults: Defaults, limit: Int
    ) -> Int? {
        let flags = run.number32(at: 0) & 0xff_ffff
        var at = 8
        func field(_ flag: UInt32) -> UInt32? {
            guard flags & flag != 0 else { return nil }
            defer { at += 4 }
            return run.number32(at: at)
        }
        let offset = field(0x1).map { base + Int(Int32(bitPattern: $0)) } ?? next
        let firstFlags = field(0x4)
        let count = Int(run.number32(at: 4))
        guard offset >= 0, count <= limit else { return nil }
        var end = offset
        var added: UInt32 = 0
        for index in 0..<count {
            // A box that ends too early has no further samples.
            guard flags & 0xf00 == 0 || at < run.content.count else { break }
            let length = field(0x100) ?? defaults.duration
            let size = field(0x200) ?? defaults.size
            let own = field(0x400) ?? defaults.flags
            let shift = field(0x800) ?? 0
            durations.append(length)
            duration += UInt64(length)
            offsets.append(shift)
            if run.version == 1, Int32(bitPattern: shift) < 0 { hasNegativeOffset = true }
            sizes.append(size)
            let isKey = (index == 0 ? firstFlags ?? own : own) & 0x10000 == 0
            if isKey { keys.append(UInt32(sizes.count)) }
            end += Int(size)
            added += 1
        }
        guard end <= limit else { return nil }
        if added > 0 {
            chunks.append(UInt64(offset))
            chunkSizes.append(added)
        }
        return end
    }

    /// The boxes after the sample descriptions.
    var boxes: [UInt8] {
        func box(_ type: String, version: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
            MovieBox<[UInt8]>.make(type) { $0 += [version, 0, 0, 0] + content }
        }
        var all = box("stts", durations.bytes)
        if offsets.values.contains(where: { $0.value != 0 }) {
            all += box("ctts", version: hasNegativeOffset ? 1 : 0, offsets.bytes)
        }
        if keys.count < sizes.count {
            all += box("stss", UInt32(keys.count).bytes + keys.bytes)
        }
        var first: UInt32 = 1
        let groups = chunkSizes.values.flatMap { run in
            defer { first += run.count }
            return [first, run.value, 1]
        }
        all += box("stsc", UInt32(chunkSizes.values.count).bytes + groups.bytes)
        all += box("stsz", UInt32(0).bytes + UInt32(sizes.count).bytes + sizes.bytes)
        let isLarge = (chunks.max() ?? 0) > UInt32.max
        return all
            + box(
                isLarge ? "co64" : "stco",
                UInt32(chunks.count).bytes
                    + (isLarge ? chunks.bytes : chunks.map { UInt32($0) }.bytes))
    }
}

// MARK: - Writing boxes

extension MovieBox<[UInt8]> {
    fileprivate static func make(_ type: String, _ content: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0] + Array(type.utf8)
        content(&bytes)
        bytes.replaceSubrange(0..<4, with: UInt32(clamping: bytes.count).bytes)
        return bytes
    }

    /// The box with its size and type.
    fileprivate var whole: [UInt8] { Self.make(type) { $0 += bytes[content] } }

    /// Returns the box with its children, and those of the boxes named, changed.
    fileprivate func replacing(_ inner: Set<String>, _ change: (MovieBox) -> [UInt8]) -> [UInt8] {
        Self.make(type) { content in
            for child in children {
                content +=
                    inner.contains(child.type) ? child.replacing(inner, change) : change(child)
            }
        }
    }

    /// Returns an `mvhd`, `tkhd` or `mdhd` box with another duration, in version 1 if it is too
    /// long for version 0.
    ///
    /// - Parameter timescale: The new timescale of `mvhd`; `nil` to keep the field.
    fileprivate func dated(duration: UInt64, timescale: UInt64?) -> [UInt8] {
        let isLong = version == 1
        let width = isLong ? 8 : 4
        let becomesLong = isLong || duration > UInt32.max
        func time(_ value: UInt64) -> [UInt8] {
            becomesLong ? value.bytes : UInt32(truncatingIfNeeded: value).bytes
        }
        func number(_ offset: Int, _ width: Int) -> UInt64 {
            UInt64(truncatingIfNeeded: self.number(at: offset, width: width) ?? 0)
        }
        // After the times: the timescale, or the number of the track and four reserved bytes.
        let middle = 4 + 2 * width
        let duringAt = middle + (type == "tkhd" ? 8 : 4)
        let start = content.lowerBound
        return Self.make(type) {
            $0 += [becomesLong ? 1 : 0] + bytes[start + 1..<start + 4]
            $0 += time(number(4, width)) + time(number(4 + width, width))
            $0 +=
                timescale.map { UInt32(clamping: $0).bytes }
                ?? Array(bytes[start + middle..<start + duringAt])
            $0 += time(duration)
            $0 += bytes[start + duringAt + width..<content.upperBound]
        }
    }
}
