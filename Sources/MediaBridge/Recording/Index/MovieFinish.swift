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
    private let tracks: [UInt32: MovieSamples]

    /// Units per second of the new index's own times: fine enough for the start of each stream.
    private static let timescale: UInt64 = 90_000

    /// Reads the index and the fragments of a file; `nil` if it has none, and is ordinary already.
    ///
    /// - Parameter onProgress: Called for each fragment.
    init?(_ path: String, onProgress: () -> Void = {}) throws(PipelineError) {
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
            onProgress()
        }
        guard let first, !fragments.isEmpty else { return nil }
        self.file = file
        movie = first
        var tracks: [UInt32: MovieSamples] = [:]
        for trak in movie.box.children("trak") {
            guard let header = trak.child("tkhd") else { continue }
            tracks[header.numberAfterTimes] = MovieSamples(frameSize: Self.frameSize(of: trak))
        }
        for defaults in movie.box.children("mvex").flatMap({ $0.children("trex") }) {
            tracks[defaults.number32(at: 4)]?.defaults = .init(
                duration: defaults.number32(at: 12), size: defaults.number32(at: 16),
                flags: defaults.number32(at: 20))
        }
        self.tracks = tracks
        for (place, size) in fragments {
            guard let bytes = file.read(size, at: place), bytes.count == size else {
                throw bad("a fragment cannot be read")
            }
            try add(Box(bytes: bytes, type: "moof", content: 8..<size), at: place)
            onProgress()
        }
        stretchShortTracks()
    }

    /// Returns the size of one moment of all channels of uncompressed sound, in bytes; `nil` for any other track.
    private static func frameSize(of trak: Box) -> UInt32? {
        let list = trak.child("mdia")?.child("minf")?.child("stbl")?.child("stsd")
        guard let entry = list?.firstEntry,
            ["sowt", "twos", "in24", "in32", "raw "].contains(entry.type),
            let channels = entry.number(at: 16, width: 2), let bits = entry.number(at: 18, width: 2)
        else { return nil }
        let stated = entry.number(at: 8, width: 2) == 1 ? entry.number(at: 36, width: 4) : nil
        let size = stated ?? channels * bits / 8
        return size > 0 ? UInt32(clamping: size) : nil
    }

    /// Makes GStreamer's qtdemux read tracks that last less than a fifth of the movie, which it takes
    /// for preview images: their last sample gets a longer duration, and an edit list that ends at
    /// the old one.
    private func stretchShortTracks() {
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

    private func add(_ fragment: Box, at place: Int) throws(PipelineError) {
        /// The end of the data of the track before, in the same fragment.
        var end = place
        for traf in fragment.children("traf") {
            guard let header = traf.child("tfhd"), let table = tracks[header.number32(at: 4)]
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
            let defaults = MovieSamples.Defaults(
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
        }
    }

    /// Changes the file.
    ///
    /// - Parameters:
    ///   - marks: Become its chapters; the first 255 of them.
    ///   - titles: Those of the tracks, in the order of their numbers.
    ///   - timeOfDay: The local time of day when the file begins, in nanoseconds, for its timecode; `nil` for none.
    ///   - onProgress: Called while the disk takes the data.
    func run(
        marks: [RecordedFile.Mark] = [], titles: [String?] = [], timeOfDay: Int64? = nil,
        onProgress: () -> Void = {}
    ) throws(PipelineError) {
        let timecode = timeOfDay.flatMap { self.timecode(at: $0) }
        let index = newIndex(marks, titles, timecode)
        let span = UInt64(file.count - movie.place)
        let sample = timecode?.sample ?? []
        let place = file.count + sample.count
        let hidden = [sample] + index.renamed("free").parts
        let whole = [0, 0, 0, 1] + Array("mdat".utf8) + span.bytes
        let steps: [(place: Int, parts: [[UInt8]])] = [
            (file.count, hidden), (place + 4, [Array("moov".utf8)]), (movie.place, [whole]),
        ]
        if let reason = file.change(steps, onProgress: onProgress) { throw bad(reason) }
    }

    private func bad(_ reason: String) -> PipelineError {
        PipelineError(
            .resourceFailed,
            message: "the fragments of \"\(path)\" cannot be made one index: \(reason). The file "
                + "is complete, and plays",
            advice: "record with --fragmented, or run gst-bridge repair later")
    }

    // MARK: The new index

    /// The track of pictures.
    private var pictures: Box? {
        movie.box.children("trak").first {
            $0.child("mdia")?.child("hdlr")?.letters(at: 8) == "vide"
        }
    }

    /// - Parameter time: The time of day when the file begins.
    private func timecode(at time: Int64) -> MovieTimecode? {
        guard let trak = pictures, let number = trak.child("tkhd")?.numberAfterTimes,
            let duration = tracks[number]?.usualDuration,
            let timescale = trak.child("mdia")?.child("mdhd")?.numberAfterTimes
        else { return nil }
        let day: Int64 = 86_400_000_000_000
        let start = Int64(span(of: number, trak).start) * 100_000 / 9
        return MovieTimecode(at: (time + start) % day, duration: duration, timescale: timescale)
    }

    /// Returns the track of the timecode.
    private func track(_ timecode: MovieTimecode, _ number: UInt32) -> MovieBytes {
        guard let trak = pictures, let header = trak.child("tkhd"), header.version == 0 else {
            return .init()
        }
        let span = span(of: header.numberAfterTimes, trak)
        let start = header.content.lowerBound + 4
        return timecode.track(
            number, created: Array(header.bytes[start..<start + 8]), span: span.total,
            length: tracks[header.numberAfterTimes]?.shownDuration ?? 0,
            edits: span.start > 0 ? Self.edits(span.start, span.length, 0) : .init(),
            sampleAt: file.count + 8)
    }

    private func newIndex(
        _ marks: [RecordedFile.Mark], _ titles: [String?], _ timecode: MovieTimecode?
    ) -> MovieBytes {
        let timecodeTrack = timecode == nil ? nil : (tracks.keys.max() ?? 0) + 1
        let longest = duration
        let chapters = marks.isEmpty ? MovieBytes() : Self.chapters(marks)
        return MovieBytes(box: "moov") { content in
            for child in movie.box.children {
                switch child.type {
                case "mvhd":
                    var header = child.dated(duration: longest, timescale: Self.timescale)
                    if let timecodeTrack { header.setLast((timecodeTrack + 1).bytes) }
                    content += header
                case "trak":
                    let isShown = child.content == pictures?.content
                    content += track(child, titles, timecode: isShown ? timecodeTrack : nil)
                case "mvex", "free", "udta": break
                default: content += child.whole
                }
            }
            if let timecode, let timecodeTrack { content += track(timecode, timecodeTrack) }
            content += Self.userData(of: movie.box, and: chapters)
        }
    }

    /// Returns the user data of a movie, or a track, with a further box.
    private static func userData(of box: Box, and added: MovieBytes) -> MovieBytes {
        let own = box.child("udta").map { Array($0.bytes[$0.content]) } ?? []
        guard !own.isEmpty || added.count > 0 else { return MovieBytes() }
        return MovieBytes(box: "udta") {
            $0 += own
            $0 += added
        }
    }

    /// Returns a list of chapters in the form that players read, which Nero introduced: times in
    /// units of 100 ns, names of at most 255 bytes.
    private static func chapters(_ marks: [RecordedFile.Mark]) -> MovieBytes {
        let marks = marks.prefix(255)
        return MovieBytes(box: "chpl") { content in
            content += [1, 0, 0, 0, 0, 0, 0, 0, UInt8(marks.count)]
            for mark in marks {
                content += UInt64(clamping: MediaTime(mark.time).nanoseconds / 100).bytes
                content += counted(mark.name)
            }
        }
    }

    /// Returns a string behind its length, which is one byte: as many whole characters as fit into 255 bytes.
    private static func counted(_ text: String) -> [UInt8] {
        var text = Substring(text)
        while text.utf8.count > 255 { text = text.dropLast() }
        return [UInt8(text.utf8.count)] + Array(text.utf8)
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
        let length = scaled(table.shownDuration)
        return (start, length, start &+ length)
    }

    /// - Parameter timecode: The number of the track with its timecode.
    private func track(_ trak: Box, _ titles: [String?], timecode: UInt32?) -> MovieBytes {
        guard let header = trak.child("tkhd"), let table = tracks[header.numberAfterTimes] else {
            return trak.whole
        }
        let span = span(of: header.numberAfterTimes, trak)
        let index = Int(header.numberAfterTimes) - 1
        let title = titles.indices.contains(index) ? titles[index] : nil
        // Some players show the name that QuickTime gives a track, others that of its handler.
        let name = title.map { title in MovieBytes(box: "name") { $0 += Array(title.utf8) } }
        func samples(after description: Box) -> MovieBytes {
            var bytes = table.frameSize == nil ? description.whole : Self.positioned(description)
            table.write(to: &bytes)
            return bytes
        }
        return MovieBytes(box: "trak") { content in
            for child in trak.children {
                switch child.type {
                case "tkhd":
                    content += child.dated(duration: span.total, timescale: nil)
                    if trak.child("edts") == nil, span.start > 0 || table.isStretched {
                        content += Self.edits(span.start, span.length, table.firstOffset)
                    }
                    if let timecode {
                        content += MovieBytes(box: "tref") {
                            $0 += MovieBytes(box: "tmcd") { $0 += timecode.bytes }
                        }
                    }
                case "mdia":
                    content += child.replacing(["minf", "stbl"]) { box in
                        switch box.type {
                        case "mdhd": box.dated(duration: table.mediaDuration, timescale: nil)
                        case "hdlr": title.map { Self.handler(box, named: $0) } ?? box.whole
                        case "stsd": samples(after: box)
                        case "stts", "ctts", "stss", "stsc", "stsz", "stco", "co64": .init()
                        default: box.whole
                        }
                    }
                case "udta": break
                default: content += child.whole
                }
            }
            content += Self.userData(of: trak, and: name ?? .init())
        }
    }

    private static func handler(_ box: Box, named name: String) -> MovieBytes {
        let named = box.bytes[box.content].dropFirst(24)
        // In QuickTime a string begins with its length, in ISO/IEC 14496-12 it ends with zero.
        let isCounted = named.first.map { Int($0) == named.count - 1 } ?? false
        let text = isCounted ? counted(name) : Array(name.utf8) + [0]
        return MovieBytes(box: "hdlr") {
            $0 += Array(box.bytes[box.content.prefix(24)])
            $0 += text
        }
    }

    /// Returns the description of uncompressed sound with the positions of its channels, which are in GStreamer's order.
    ///
    /// Source: Core Audio's `AudioChannelLayout`, whose bitmap is that of WAVE files.
    private static func positioned(_ list: Box) -> MovieBytes {
        let bitmaps: [Int: UInt32] = [3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3f, 7: 0x13f, 8: 0x63f]
        guard let entry = list.firstEntry,
            let bitmap = entry.number(at: 16, width: 2).flatMap({ bitmaps[$0] })
        else { return list.whole }
        return MovieBytes(box: list.type) {
            $0 += Array(list.bytes[list.content.prefix(8)])
            $0 += MovieBytes(box: entry.type) {
                $0 += Array(entry.bytes[entry.content])
                $0 += MovieBytes(box: "chan") { $0 += [UInt32(0), 0x1_0000, bitmap, 0].bytes }
            }
        }
    }

    /// Returns an edit list that delays a track, begins with its first picture in the order of
    /// presentation, and ends after `length`.
    private static func edits(_ start: UInt64, _ length: UInt64, _ offset: UInt64) -> MovieBytes {
        MovieBytes(box: "edts") { content in
            content += MovieBytes(box: "elst") {
                $0 += [1, 0, 0, 0] + UInt32(start > 0 ? 2 : 1).bytes
                if start > 0 { $0 += start.bytes + UInt64.max.bytes + [0, 1, 0, 0] }
                $0 += length.bytes + offset.bytes + [0, 1, 0, 0]
            }
        }
    }
}
