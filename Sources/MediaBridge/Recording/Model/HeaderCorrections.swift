internal import Synchronization

/// Corrects the boxes of a fragmented file on their way from the muxer to the file.
///
/// GStreamer 1.22's mp4mux counts the times of each stream from its own first sample, and does not
/// store how much later than the others it begins: audio that begins 20 ms after the first picture
/// would always be heard 20 ms too early. It writes the time when the muxer began as that of the creation,
/// instead of the time of the capture. It declares a stream without data, and without a codec:
/// no player opens such a file. And if two pictures have the same time, ffmpeg shows only one. It does not
/// write the light of HDR pictures. qtmux gives samples of 24 bits the name of those of 16.
///
/// Source: ISO/IEC 14496-12, boxes `mvhd` (section 8.2.2), `tkhd` (8.3.2), `mdhd`, `stsd`, `trex`, `free`, `tfhd`, `tfdt` and
/// `trun`.
final class FragmentHeader: Sendable {
    private typealias Box = MovieBox<UnsafeMutableRawBufferPointer>
    /// By track number in the file: the timescale in units per second.
    private let timescales = Mutex<[UInt32: UInt64]>([:])
    private let starts: [MediaTime]
    private let orientation: ImageOrientation
    private let created: Int64?
    private let hidesFragments: Bool
    private let light: PictureLight?

    /// Seconds from 1904 to 1970.
    static let since1904: Int64 = 2_082_844_800

    /// Whether a buffer is a box that must be passed to ``edit(_:)``. Media data that happens to begin like one
    /// will hardly have the length that it then states.
    static func isMeant(_ head: UInt64, _ size: Int) -> Bool {
        let (length, type) = (Int(head >> 32), UInt32(truncatingIfNeeded: head))
        return length == size && (type == 0x6d6f_6f76 || type == 0x6d6f_6f66)  // moov, moof
    }

    /// - Parameters:
    ///   - starts: The start time of each track, in the file's time, in the order in which the muxer got them.
    ///   - orientation: How the pictures are to be turned.
    ///   - created: When the file's first unit was captured, in nanoseconds since 1970; `nil`: the
    ///     muxer's time is kept.
    ///   - hidesFragments: Whether `moof` boxes become `free` boxes; see
    ///     ``RecordingFile/flush(isNew:_:)``.
    ///   - light: The light of HDR pictures.
    init(
        starts: [MediaTime] = [], orientation: ImageOrientation = .init(),
        created: Int64?, hidesFragments: Bool = false, light: PictureLight? = nil
    ) {
        self.light = light
        self.starts = starts
        self.orientation = orientation
        self.created = created
        self.hidesFragments = hidesFragments
    }

    /// Edits the boxes in place. Thread: the muxer's streaming thread.
    func edit(_ bytes: UnsafeMutableRawBufferPointer) {
        timescales.withLock { timescales in
            for box in MovieBoxes(bytes, 0..<bytes.count) {
                switch box.type {
                case "moov":
                    Self.freeEmptyTracks(of: box)
                    if let header = box.child("mvhd") { date(header) }
                    for child in box.children("trak") { note(child, &timescales) }
                    if let light { add(light, to: box) }
                case "moof":
                    for child in box.children("traf") {
                        shift(child, timescales)
                        for run in child.children("trun") { Self.spread(run) }
                    }
                    if hidesFragments { box.free() }
                default: break
                }
            }
        }
    }

    private func note(_ trak: Box, _ timescales: inout [UInt32: UInt64]) {
        guard let header = trak.child("tkhd"), let media = trak.child("mdia"),
            let mediaHeader = media.child("mdhd"), let handler = media.child("hdlr")
        else { return }
        date(header)
        date(mediaHeader)
        timescales[header.numberAfterTimes] = UInt64(mediaHeader.numberAfterTimes)
        if handler.letters(at: 8) == "soun" { nameLargeSamples(of: media) } else { turn(header) }
    }

    /// Gives uncompressed samples of 24 and 32 bits the names of QuickTime: qtmux calls all of them `twos`, which has
    /// 16 bits.
    private func nameLargeSamples(of media: Box) {
        let list = media.child("minf")?.child("stbl")?.child("stsd")
        guard let entry = list?.firstEntry, entry.type == "twos",
            let bits = entry.number(at: 18, width: 2)
        else { return }
        guard bits == 24 || bits == 32 else { return }
        entry.rename("in\(bits)")
        // Larger sizes are not stated there, but by the bytes of a frame.
        entry.set(UInt16(16), at: 18)
        if entry.number(at: 8, width: 2) == 1 { entry.set(UInt32(2), at: 40) }
    }

    /// Writes the time of creation into a header box: seconds since 1904.
    private func date(_ header: Box) {
        guard let created else { return }
        let time = UInt64(clamping: created / 1_000_000_000 + Self.since1904)
        if header.version == 1 {
            header.set(time, at: 4)
        } else {
            header.set(UInt32(truncatingIfNeeded: time), at: 4)
        }
    }

    /// Writes the orientation into a track's matrix. Muxers always write the matrix of upright pictures.
    private func turn(_ header: Box) {
        guard orientation != ImageOrientation() else { return }
        let matrix = header.version == 1 ? 52 : 40
        let (width, height) = (
            Int64(header.number32(at: matrix + 36)), Int64(header.number32(at: matrix + 40))
        )
        // The directions in which the right and down axes are shown.
        var (right, down): ((x: Int64, y: Int64), (x: Int64, y: Int64)) =
            switch orientation.degrees {
            case 90: ((0, 1), (-1, 0))
            case 180: ((-1, 0), (0, -1))
            case 270: ((0, -1), (1, 0))
            default: ((1, 0), (0, 1))
            }
        if orientation.isMirrored { right = (-right.x, -right.y) }
        // The picture is moved back to the right of the origin, and below it.
        let x = max(0, -right.x) * width + max(0, -down.x) * height
        let y = max(0, -right.y) * width + max(0, -down.y) * height
        let (one, last) = (Int64(1 << 16), Int64(1 << 30))
        let values = [
            right.x * one, right.y * one, 0, down.x * one, down.y * one, 0, x, y, last,
        ]
        for (index, value) in values.enumerated() {
            header.set(UInt32(truncatingIfNeeded: value), at: matrix + 4 * index)
        }
    }

    /// Adds the light to the description of the pictures, in place of an empty list of tags: positions of what
    /// follows must not change, because the muxer writes there at the end. Without an empty list nothing is added.
    private func add(_ light: PictureLight, to moov: Box) {
        let pictures = moov.children("trak").first {
            $0.child("mdia")?.child("hdlr")?.letters(at: 8) == "vide"
        }
        var path = pictures.map { [$0] } ?? []
        for type in ["mdia", "minf", "stbl", "stsd"] {
            guard let child = path.last?.child(type) else { return }
            path.append(child)
        }
        // A full box with the number of entries; an entry has 78 bytes in front of its boxes.
        guard let trak = path.first, let entry = path.last?.firstEntry else { return }
        path.append(entry)
        let known = Set(MovieBoxes(entry.bytes, entry.content.dropFirst(78)).map(\.type))
        let added = light.boxes.filter { !known.contains($0.type) }.flatMap(\.bytes)
        let lists = [(trak.child("udta"), path.dropFirst()), (moov.child("udta"), path[...])]
        for case (let tags?, let grown) in lists where tags.hasNoTags {
            let (end, place) = (entry.content.upperBound, tags.content.lowerBound - 8)
            let rest = tags.content.upperBound - place - added.count
            guard !added.isEmpty, end <= place, rest >= 8 else { continue }
            for box in grown { box.grow(by: added.count) }
            let moved = Array(moov.bytes[end..<place])
            let new = added + moved + UInt32(rest).bytes + Array("free".utf8)
            for (index, byte) in new.enumerated() { moov.bytes[end + index] = byte }
            return
        }
    }

    private func shift(_ traf: Box, _ timescales: [UInt32: UInt64]) {
        guard let header = traf.child("tfhd"), let time = traf.child("tfdt"),
            case let number = header.number32(at: 4), let timescale = timescales[number],
            starts.indices.contains(Int(number) - 1)
        else { return }
        let start = starts[Int(number) - 1].nanoseconds
        let units = (UInt64(clamping: start) * timescale + 500_000_000) / 1_000_000_000
        if time.version == 1 {
            time.set(
                UInt64(time.number32(at: 4)) << 32 | UInt64(time.number32(at: 8)) &+ units, at: 4)
        } else {
            time.set(time.number32(at: 4) &+ UInt32(truncatingIfNeeded: units), at: 4)
        }
    }

    /// Hides the streams without data from readers.
    private static func freeEmptyTracks(of moov: Box) {
        let empty = moov.children("trak").filter(isWithoutCodec)
        let numbers = Set(empty.compactMap { $0.child("tkhd")?.numberAfterTimes })
        let defaults = moov.children("mvex").flatMap { $0.children("trex") }
        for box in empty + defaults.filter({ numbers.contains($0.number32(at: 4)) }) { box.free() }
    }

    /// Whether a `trak` has no sample descriptions.
    private static func isWithoutCodec(_ trak: Box) -> Bool {
        let tables = ["mdia", "minf", "stbl", "stsd"].reduce([trak]) { boxes, type in
            boxes.flatMap { $0.children(type) }
        }
        return tables.first.map { $0.number32(at: 4) == 0 } ?? false
    }

    /// Gives samples with a duration of zero one time unit, taken from the samples after them, or
    /// else from those before them.
    private static func spread(_ run: Box) {
        let flags = run.number32(at: 0) & 0xff_ffff
        let (hasOffset, hasFirstFlags, hasDurations) = (flags & 1, flags & 4, flags & 0x100)
        guard hasDurations != 0 else { return }
        let first = 8 + (hasOffset != 0 ? 4 : 0) + (hasFirstFlags != 0 ? 4 : 0)
        let step = 4 * [UInt32(0x100), 0x200, 0x400, 0x800].count { flags & $0 != 0 }
        let count = min(Int(run.number32(at: 4)), max(0, run.content.count - first) / step)
        var excess: UInt32 = 0
        func pay(_ index: Int) {
            let duration = run.number32(at: first + index * step)
            guard duration > 1, excess > 0 else { return }
            let share = min(excess, duration - 1)
            run.set(duration - share, at: first + index * step)
            excess -= share
        }
        for index in 0..<count {
            if run.number32(at: first + index * step) == 0 {
                run.set(UInt32(1), at: first + index * step)
                excess += 1
            } else {
                pay(index)
            }
        }
        for index in (0..<count).reversed() { pay(index) }
    }
}

// MARK: - Matroska

/// Corrects the header of a Matroska file on its way from the muxer to the file.
///
/// matroskamux 1.22 writes the duration of the longest stream, even if another stream begins later and ends
/// later. At the end it writes the duration as a separate element, over the one in the header. It writes the
/// time when the muxer began as the time of creation. Up to 1.28 it divides the luminance of HDR displays by
/// 50,000 instead of 10,000.
///
/// Source: RFC 9559, sections 5.1.2.10 (`Duration`, a float in milliseconds by default), 5.1.2.11 (`DateUTC`,
/// nanoseconds since 2001), 5.1.4.1.28.40 (`LuminanceMax`) and 5.1.4.1.28.41 (`LuminanceMin`, floats in cd/m²).
enum MatroskaHeader {
    static let (segment, cluster) = (0x1853_8067, 0x1f43_b675)
    private static let (info, duration, date) = (0x1549_a966, 0x4489, 0x4461)
    private static let (tracks, luminanceMax, luminanceMin) = (0x1654_ae6b, 0x55d9, 0x55da)
    /// The elements whose children are looked at: of the segment, and of a track from its entry to the display.
    private static let parents: Set = [segment, info, tracks, 0xae, 0xe0, 0x55b0, 0x55d0]

    /// Makes a muxer announce the time from the beginning of the file to its end, at least, and the time of
    /// the capture.
    ///
    /// - Parameters:
    ///   - created: When the file's first unit was captured, in nanoseconds since 1970; `nil`: the
    ///     muxer's time is kept.
    ///   - light: The light of HDR pictures.
    ///   - length: Called at the end, on the muxer's streaming thread.
    static func correct(
        _ muxer: Element?, created: Int64?, light: PictureLight? = nil,
        _ length: @escaping @Sendable () -> MediaTime
    ) {
        muxer?.pad("src")?.rewrite {
            // The identifier and the length of its content, which is 8 bytes long; or the whole header.
            $0 >> 40 == UInt64(duration << 8 | 0x88) && $1 == 11 || $0 >> 32 == UInt64(segment)
        } _: { bytes in
            if bytes.count > 11 {
                if let created, let place = offset(of: date, in: bytes) {
                    store(UInt64(bitPattern: created - since2001), bytes, at: place)
                }
                guard let luminance = light?.luminance else { return }
                if let place = offset(of: luminanceMax, in: bytes) {
                    store(luminance.highest.bitPattern, bytes, at: place)
                }
                if let place = offset(of: luminanceMin, in: bytes) {
                    store(luminance.lowest.bitPattern, bytes, at: place)
                }
                return
            }
            let stated = bytes[3...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let right = max(Double(bitPattern: stated), length().seconds * 1000)
            store(right.bitPattern, bytes, at: 3)
        }
    }

    /// Returns the time of the capture that the beginning of a file states, in nanoseconds since 1970.
    static func created(in head: [UInt8]) -> Int64? {
        guard let place = offset(of: date, in: head) else { return nil }
        let date = head[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let (time, overflow) = Int64(bitPattern: date).addingReportingOverflow(since2001)
        return overflow ? nil : time
    }

    /// Returns whether the size that the beginning of a file states is final and in the file, which
    /// has `count` bytes. Muxers write the size last.
    static func isFinished(_ head: [UInt8], count: Int) -> Bool {
        var at = 0
        while let (id, content) = element(head, at) {
            if id == segment { return content.upperBound <= count }
            at = content.upperBound
        }
        return false
    }

    /// Returns when the last block of a file begins, in nanoseconds, by its last complete cluster; `nil` if
    /// there is none in the last part of the file. Assumes times in milliseconds, the default.
    static func lastBlock(of file: FileBytes) -> Int64? {
        guard let tail = file.read(32 << 20, at: max(0, file.count - 32 << 20)) else { return nil }
        let marker = UInt32(cluster).bytes
        for place in tail.indices.reversed()
        where tail[place] == marker[0] && tail[place...].starts(with: marker) {
            guard let cluster = element(tail, place),
                let time = element(tail, cluster.content.lowerBound),
                time.id == 0xe7, time.content.upperBound <= tail.count
            else { continue }
            let began = tail[time.content].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            var (last, at) = (Int64?.none, time.content.upperBound)
            while at < tail.count, let (id, content) = element(tail, at) {
                if id == 0xa3 || id == 0xa1, content.lowerBound + 3 <= tail.count {
                    let place = content.lowerBound + 1
                    let offset = UInt16(tail[place]) << 8 | UInt16(tail[place + 1])
                    last = max(last ?? .min, began &+ Int64(Int16(bitPattern: offset)))
                }
                at = id == 0xa0 ? content.lowerBound : content.upperBound  // a group of blocks
            }
            if let last { return last &* 1_000_000 }
        }
        return nil
    }

    /// Nanoseconds from 1970 to 2001.
    private static let since2001: Int64 = 978_307_200_000_000_000

    /// Returns the offset of the first element of a kind that is 8 bytes long; `nil` if there is none.
    private static func offset<Bytes: RandomAccessCollection<UInt8>>(
        of wanted: Int, in bytes: Bytes
    ) -> Int? where Bytes.Index == Int {
        var at = 0
        while at < bytes.count, let (id, content) = element(bytes, at) {
            switch id {
            case wanted where content.count == 8 && content.upperBound <= bytes.count:
                return content.lowerBound
            case _ where parents.contains(id): at = content.lowerBound  // its children follow
            default: at = content.upperBound
            }
        }
        return nil
    }

    /// The size of an element that does not state it; all others are smaller.
    static let unknownSize = 1 << 56

    /// Returns an element's identifier and content; `nil` beyond the end of the bytes.
    static func element<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ start: Int
    ) -> (id: Int, content: Range<Int>)? where Bytes.Index == Int {
        func number(_ start: Int, keepsMarker: Bool) -> (value: Int, end: Int)? {
            guard start < bytes.count, bytes[start] != 0 else { return nil }
            let count = bytes[start].leadingZeroBitCount + 1
            guard start + count <= bytes.count else { return nil }
            let first = keepsMarker ? Int(bytes[start]) : Int(bytes[start]) & (0xff >> count)
            let value = bytes[start + 1..<start + count].reduce(first) { $0 << 8 | Int($1) }
            return (value, start + count)
        }
        guard let id = number(start, keepsMarker: true),
            let size = number(id.end, keepsMarker: false)
        else { return nil }
        let isUnknown = size.value == 1 << (7 * (size.end - id.end)) - 1
        return (id.value, size.end..<size.end + (isUnknown ? unknownSize : size.value))
    }

    private static func store(
        _ number: UInt64, _ bytes: UnsafeMutableRawBufferPointer, at start: Int
    ) {
        for (index, byte) in number.bytes.enumerated() { bytes[start + index] = byte }
    }
}
