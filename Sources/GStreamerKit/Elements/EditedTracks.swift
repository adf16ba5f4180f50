internal import CMediaBridge
internal import Synchronization

/// Lets `qtdemux` deliver each track, and the frames that its shown part refers to.
///
/// It takes a track for a preview picture, and skips it, if the movie is at least five times as long: if a
/// camera failed early, or if a segment states its time in the whole recording. It ends at the duration of the
/// movie, without the frames before the shown part. So the duration is hidden from it in both cases, and
/// queries for it are answered here.
///
/// If an edit list begins a track between its first key frame and the second, `qtdemux` 1.22 begins with the first
/// frame that is shown, which no decoder can decode. So the edit list is hidden from it, and its effect is
/// stated as the segment of the track: the frames before it have negative running times, and decoders do
/// not show them. Tracks of sound, whose blocks are all key frames, and lists of several edits do not change.
///
/// Source: ISO/IEC 14496-12, boxes `elst` (section 8.6.6), `stts`, `ctts` and `stss` (8.6.1 and 8.6.2).
final class EditedTracks: Sendable {
    private typealias Box = MovieBox<UnsafeMutableRawBufferPointer>
    /// In nanoseconds.
    private struct Edit {
        /// The part of the track that is shown.
        let start, stop: UInt64
        /// When it is shown.
        let delay: UInt64
    }
    /// By the name of the demuxer's pad.
    private let edits = Mutex<[String: Edit]>([:])
    /// The hidden duration of the movie, in nanoseconds.
    private let duration = Mutex<UInt64?>(nil)

    /// Corrects an element for as long as it lives, if it is a `qtdemux`. Call it before data flows.
    static func watch(_ demuxer: Element) {
        guard demuxer.factoryName == "qtdemux" else { return }
        let tracks = EditedTracks()
        demuxer.pad("sink")?.addProbe(GST_PAD_PROBE_TYPE_PULL, GST_PAD_PROBE_TYPE_BUFFER) {
            pad, info in
            tracks.read(info, pad)
            return GST_PAD_PROBE_OK
        }
        demuxer.onSourcePad { pad in
            if let duration = tracks.duration.withLock({ $0 }) { pad.answerDuration(duration) }
            guard let edit = tracks.edits.withLock({ $0[pad.name] }) else { return }
            pad.show(from: edit.start, to: edit.stop, at: edit.delay)
        }
    }

    /// Reads the index of the file, which the demuxer pulls as a whole.
    private func read(
        _ info: UnsafeMutablePointer<GstPadProbeInfo>, _ pad: UnsafeMutablePointer<GstPad>
    ) {
        var head: UInt64 = 0
        var map = GstMapInfo()
        guard let buffer = info.buffer,
            gst_buffer_extract(buffer, 0, &head, 8) == 8,
            UInt32(truncatingIfNeeded: UInt64(bigEndian: head)) == 0x6d6f_6f76,  // moov
            UInt64(bigEndian: head) >> 32 == UInt64(gst_buffer_get_size(buffer)),
            let own = mb_pad_probe_own_buffer(info), gst_buffer_map(own, &map, GST_MAP_WRITE) != 0
        else { return }
        defer { gst_buffer_unmap(own, &map) }
        let bytes = UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size))
        guard let movie = MovieBoxes(bytes, 0..<bytes.count).first(where: { $0.type == "moov" }),
            movie.child("mvex") == nil
        else { return }
        let scale = UInt64(movie.child("mvhd")?.numberAfterTimes ?? 0)
        let pictures = movie.children("trak").filter {
            $0.child("mdia")?.child("hdlr")?.letters(at: 8) == "vide"
        }
        var found: [String: Edit] = [:]
        for (number, track) in pictures.enumerated() {
            guard let list = track.child("edts"), let edit = Self.edit(list, of: track, scale)
            else { continue }
            found["video_\(number)"] = edit
            list.free()
        }
        if !found.isEmpty || Self.hasShortTrack(movie) { hideDuration(of: movie) }
        guard !found.isEmpty else { return }
        edits.withLock { $0 = found }
        Self.takeHiddenFrames(pad)
    }

    /// Whether a track has a fifth of the movie's duration or less.
    private static func hasShortTrack(_ movie: Box) -> Bool {
        guard let whole = movie.child("mvhd")?.seconds else { return false }
        return movie.children("trak").contains { track in
            track.child("mdia")?.child("mdhd")?.seconds.map { $0 <= whole / 5 } ?? false
        }
    }

    private func hideDuration(of movie: Box) {
        guard let header = movie.child("mvhd"), let whole = header.duration, whole > 0 else {
            return
        }
        duration.withLock { $0 = Self.nanoseconds(whole, UInt64(header.numberAfterTimes)) }
        header.version == 1 ? header.set(UInt64(0), at: 24) : header.set(UInt32(0), at: 16)
    }

    /// Makes the appsinks of the pad's pipeline take encoded frames before the segment, too.
    private static func takeHiddenFrames(_ pad: UnsafeMutablePointer<GstPad>) {
        guard var element = Pad(retaining: pad).element else { return }
        while let parent = withExtendedLifetime(
            element, { gst_object_get_parent($0.pointer.cast()) })
        {
            element = Element(adopting: parent.cast())
        }
        guard mb_is_a(element.pointer, gst_bin_get_type()) != 0 else { return }
        for sink in Element.all(of: gst_bin_iterate_recurse(element.pointer.cast()))
        where sink.factoryName == "appsink" {
            sink.pad("sink")?.takeHiddenFrames()
        }
    }

    /// Returns the edit if the track begins between its first key frame and the second.
    private static func edit(_ edits: Box, of track: Box, _ movieScale: UInt64) -> Edit? {
        guard let list = edits.child("elst"), let media = track.child("mdia"),
            let scale = media.child("mdhd").map({ UInt64($0.numberAfterTimes) }),
            scale > 0, movieScale > 0,
            let samples = media.child("minf")?.child("stbl"), let keys = samples.child("stss"),
            keys.number32(at: 4) > 0, keys.number32(at: 8) == 1
        else { return nil }
        let (width, size) = list.version == 1 ? (8, 20) : (4, 12)
        var delay: UInt64 = 0
        let count = Int(list.number32(at: 4))
        for index in 0..<min(count, list.content.count / size) {
            let place = 8 + index * size
            guard let length = list.number(at: place, width: width), length >= 0,
                let begins = list.number(at: place + width, width: width)
            else { return nil }
            let start = width == 8 ? begins : Int(Int32(truncatingIfNeeded: begins))
            if start == -1 {
                delay &+= UInt64(length)
                continue
            }
            let times = SampleTimes(samples)
            guard index == count - 1, start >= 0, UInt64(start) > times.time(of: 0),
                keys.number32(at: 4) == 1
                    || UInt64(start) < times.time(of: Int(keys.number32(at: 12)) - 1)
            else { return nil }
            let begin = nanoseconds(UInt64(start), scale)
            return Edit(
                start: begin,
                stop: length == 0 ? .max : begin &+ nanoseconds(UInt64(length), movieScale),
                delay: nanoseconds(delay, movieScale))
        }
        return nil
    }

    /// Rounds down, as qtdemux does.
    private static func nanoseconds(_ count: UInt64, _ scale: UInt64) -> UInt64 {
        let (high, low) = count.multipliedFullWidth(by: 1_000_000_000)
        return high < scale ? scale.dividingFullWidth((high, low)).quotient : 0
    }
}

extension MovieBox {
    /// The duration in a header box of a movie or of its media, in its own units.
    fileprivate var duration: UInt64? {
        number(at: version == 1 ? 24 : 16, width: version == 1 ? 8 : 4).map {
            UInt64(bitPattern: Int64($0))
        }
    }

    fileprivate var seconds: Double? {
        numberAfterTimes == 0 ? nil : duration.map { Double($0) / Double(numberAfterTimes) }
    }
}

/// The times of a track's samples.
private struct SampleTimes {
    private let durations, offsets: MovieBox<UnsafeMutableRawBufferPointer>?

    init(_ samples: MovieBox<UnsafeMutableRawBufferPointer>) {
        (durations, offsets) = (samples.child("stts"), samples.child("ctts"))
    }

    /// Returns when a sample is presented, in the track's units; the greatest number if that is not known.
    func time(of sample: Int) -> UInt64 {
        guard let durations else { return .max }
        var (time, left) = (UInt64(0), sample)
        for (count, duration) in Self.runs(durations) where left > 0 {
            time &+= UInt64(min(count, left)) &* UInt64(duration)
            left -= min(count, left)
        }
        left = sample
        for (count, offset) in Self.runs(offsets) {
            if left < count {
                return UInt64(max(0, Int64(clamping: time) &+ Int64(Int32(bitPattern: offset))))
            }
            left -= count
        }
        return time
    }

    private static func runs(
        _ table: MovieBox<UnsafeMutableRawBufferPointer>?
    ) -> [(count: Int, value: UInt32)] {
        guard let table else { return [] }
        let count = min(Int(table.number32(at: 4)), table.content.count / 8)
        return (0..<count).map {
            (Int(table.number32(at: 8 + 8 * $0)), table.number32(at: 12 + 8 * $0))
        }
    }
}
