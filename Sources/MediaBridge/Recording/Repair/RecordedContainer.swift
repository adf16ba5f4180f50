internal import Glibc
internal import MediaBasics

/// The container of a file, determined by its content: a recording may have any name.
struct RecordedContainer: Sendable {
    let container: RecordingContainer
    /// How to read an MPEG-4 file that was not finished; `nil` for any other file.
    var fragments: FragmentReading?
    /// When the first unit was captured, in nanoseconds since 1970; `nil` if the file does not
    /// state it.
    var created: Int64?
    /// The titles of the tracks of an MPEG-4 file, by the names of the demuxer's pads; demuxers do not read them.
    var titles: [String: String] = [:]
    /// Whether the muxer completed the file; `nil` if the container does not show it.
    var isFinished: Bool?
    /// Whether a repair gains nothing: the file is complete, and of the ordinary form.
    var isOrdinary: Bool { isFinished == true && fragments == nil }

    /// Reads the beginning of a file, and for MPEG-4 its boxes.
    static func of(_ path: String) throws(PipelineError) -> RecordedContainer {
        let file = try FileBytes(path)
        guard let head = file.read(4096, at: 0) else {
            throw PipelineError(cannot: "read \(path)")
        }
        if head.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) {
            let name = Array("webm".utf8)
            let isWebM = (0..<min(512, head.count) - name.count).contains {
                head[$0] == name[0] && head[$0...].starts(with: name)
            }
            return RecordedContainer(
                container: isWebM ? .webm : .mkv, created: MatroskaHeader.created(in: head),
                isFinished: MatroskaHeader.isFinished(head, count: file.count))
        }
        if head.dropFirst(4).starts(with: Array("ftyp".utf8)) {
            let index = try MovieIndex(of: file, path)
            return RecordedContainer(
                container: head.dropFirst(8).starts(with: Array("qt".utf8)) ? .mov : .mp4,
                fragments: index.fragmentReading, created: index.created,
                titles: index.titles, isFinished: index.isFinished)
        }
        if head.first == 0x47, head.count > 188, head[188] == 0x47 {
            return RecordedContainer(container: .ts)
        }
        for (start, container) in [
            ("fLaC", RecordingContainer.flac), ("OggS", .ogg), ("RIFF", .wav),
        ]
        where head.starts(with: Array(start.utf8)) {
            return RecordedContainer(container: container)
        }
        throw PipelineError(
            .streamFailed,
            message: head.isEmpty
                ? "\(path) is empty: nothing was recorded"
                : "\(path) is not a recording in Matroska, WebM, MPEG-4, MPEG transport stream, Ogg, FLAC or WAVE",
            advice: head.isEmpty ? nil : "run file \(path) to identify it")
    }
}

// MARK: - MPEG-4

/// The index (`moov`) of an MPEG-4 file, as far as a repair needs it.
private struct MovieIndex {
    private typealias Box = MovieBox<[UInt8]>
    private let movie: Box
    /// The offset of the index in the file.
    private let place: Int
    private let hasFragments: Bool
    /// See ``FragmentReading/isSequential``.
    private let isSequential: Bool
    /// Whether all boxes are complete, and after fragments their index follows, which is written last.
    let isFinished: Bool

    /// The maximum size of an index in bytes; a larger one is ignored.
    private static let largestIndex = 256 << 20

    /// Throws if the file has no index, which a muxer writes last, unless it writes fragments.
    init(of file: FileBytes, _ path: String) throws(PipelineError) {
        var found: (place: Int, size: Int)?
        var hasFragments = false
        var (isWhole, hasFragmentIndex) = (true, false)
        var (isSequential, hasMediaWithoutFragment, last) = (true, false, "")
        try file.forEachBox { (type, position, size) throws(PipelineError) in
            guard !Task.isCancelled else {
                throw PipelineError(.interrupted, message: "the repair of \(path) was cancelled")
            }
            isWhole = position + size <= file.count
            if type == "mfra" { hasFragmentIndex = isWhole }
            if type == "moov", isWhole, size <= Self.largestIndex, found == nil || !hasFragments {
                found = (position, size)
            }
            if type == "moof" {
                hasFragments = true
                isSequential = isSequential && !hasMediaWithoutFragment
            }
            if type == "mdat", last != "moof" { hasMediaWithoutFragment = true }
            last = type
        }
        guard let found else {
            throw PipelineError(
                .streamFailed,
                message: "\(path) has no index, and cannot be repaired: the muxer writes the index "
                    + "last. Without it, the position and the codec data of the frames are unknown",
                advice: "for the next recording, gst-bridge record or mp4mux fragment-duration=500 "
                    + "fragment-mode=dash-or-mss")
        }
        guard let bytes = file.read(found.size, at: found.place), bytes.count == found.size else {
            throw PipelineError(
                .resourceFailed, message: "cannot read the index of \(path)",
                advice: "check that no other program writes to the file")
        }
        movie = Box(bytes: bytes, type: "moov", content: 8..<bytes.count)
        place = found.place
        self.hasFragments = hasFragments
        self.isSequential = isSequential
        let isFragmented = hasFragments || movie.child("mvex") != nil
        isFinished = isWhole && (hasFragmentIndex || !isFragmented)
    }

    /// When the first unit was captured, in nanoseconds since 1970; `nil` if the file does not state
    /// it.
    var created: Int64? {
        guard let header = movie.child("mvhd"),
            let time = header.number(at: 4, width: header.version == 1 ? 8 : 4), time > 0
        else { return nil }
        let (seconds, overflow) = Int64(time).subtractingReportingOverflow(
            FragmentHeader.since1904)
        guard !overflow, abs(seconds) < 1 << 32 else { return nil }
        return seconds * 1_000_000_000
    }

    /// The tracks of video and audio, with the names of the demuxer's pads.
    private var tracks: [(pad: String, box: Box)] {
        let all = movie.children("trak")
        let streams = RecordedStream.numbered(all.map { kind(of: $0) })
        return zip(streams, all).compactMap { stream, track -> (pad: String, box: Box)? in
            stream.map { (pad: $0.pad, box: track) }
        }
    }

    var titles: [String: String] {
        tracks.reduce(into: [:]) { titles, track in
            guard let name = track.box.child("udta")?.child("name") else { return }
            titles[track.pad] = String(decoding: name.bytes[name.content], as: UTF8.self)
        }
    }

    /// How to read the file if it has fragments, or was meant to have them; `nil` for any other
    /// file.
    var fragmentReading: FragmentReading? {
        guard hasFragments || movie.child("mvex") != nil else { return nil }
        var reading = FragmentReading(patches: [:], delays: [:], isSequential: isSequential)
        let tracks = self.tracks
        let movieScale = movie.child("mvhd").map { scale(of: $0) } ?? 1000
        for (pad, track) in tracks {
            guard let edits = track.child("edts") else { continue }
            reading.patches[place + edits.content.lowerBound - 4] = Array("free".utf8)
            guard let list = edits.child("elst") else { continue }
            let mediaScale = track.child("mdia")?.child("mdhd").map { scale(of: $0) } ?? movieScale
            reading.delays[pad] = delay(list, movieScale, mediaScale)
        }
        // For audio, the edit list skips the samples that prime the decoder. mp4mux would drop
        // these: to keep every block, all tracks are delayed by their duration.
        let sound = reading.delays.filter { $0.key.hasPrefix("audio_") }.values.min() ?? 0
        if sound < 0 {
            for (pad, _) in tracks { reading.delays[pad, default: 0] -= sound }
        }
        return reading
    }

    /// Returns the timescale in an `mvhd` or `mdhd` box, in units per second.
    private func scale(of header: Box) -> Int { max(1, Int(header.numberAfterTimes)) }

    /// Returns the kind of a track, which its handler states; `nil` for text and data.
    private func kind(of track: Box) -> MediaKind? {
        switch track.child("mdia")?.child("hdlr")?.letters(at: 8) {
        case "vide": .video
        case "soun": .audio
        default: nil
        }
    }

    /// Returns the delay that an edit list describes, in nanoseconds: the initial empty edits,
    /// minus the part of the media that is skipped.
    private func delay(_ list: Box, _ movieScale: Int, _ mediaScale: Int) -> Int64 {
        let isLong = list.version == 1
        let (width, size) = isLong ? (8, 20) : (4, 12)
        var silence = 0
        for entry in 0..<min(list.content.count, Int(list.number32(at: 4))) {
            let start = 8 + entry * size
            guard let duration = list.number(at: start, width: width),
                let raw = list.number(at: start + width, width: width)
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

    /// Rounds down, as qtdemux does: with half a nanosecond more, the first picture would be cut
    /// off.
    private static func nanoseconds(_ count: Int, _ scale: Int) -> Int64 {
        guard count > 0, count / scale < 1_000_000_000 else { return 0 }
        let product = count.multipliedFullWidth(by: 1_000_000_000)
        return Int64(scale.dividingFullWidth(product).quotient)
    }
}
