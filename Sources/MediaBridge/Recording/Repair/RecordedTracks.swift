extension RecordingContainer {
    /// Returns the element between the demuxer and the muxer for a stream; `nil` for none.
    func between(_ mediaType: String, isAAC: Bool) -> String? {
        let key = mediaType == "audio/mpeg" && !isAAC ? Caps.mpeg1Sound : mediaType
        if let parser = parsers[key] { return parser }
        guard self != .ts else { return nil }
        // matroskademux 1.22 leaves out caps fields that matroskamux requires, misspells them, or
        // doubles the sample rate.
        return switch mediaType {
        case "audio/x-flac": "flacparse"
        case "video/x-ffv": "capssetter caps=video/x-ffv,ffversion=1"
        case "audio/mpeg" where isAAC && self == .mkv: "aacparse"
        // qtdemux does not call MP3 parsed, which mp4mux requires.
        case "audio/mpeg" where !isAAC && isMovie: "mpegaudioparse"
        default: nil
        }
    }

    /// Throws if the extension of `path` is that of another container.
    func check(endingOf path: String) throws(PipelineError) {
        let name = path.split(separator: "/").last ?? ""
        guard let ending = name.split(separator: ".").dropFirst().last?.lowercased(),
            let other = Self.endings[ending], other != self
        else { return }
        throw PipelineError(
            .badValue,
            message:
                "the recording contains \(rawValue), and a repair does not convert it to "
                + "\(other.rawValue): \"\(path)\"",
            advice: "a name that ends in .\(rawValue)")
    }

    /// Creates a pipeline that copies these streams of a file into a new one, or the whole file unchanged
    /// if a repair gains nothing: a muxer would drop chapters and subtitles.
    func remux(
        _ streams: [StreamScan.Stream], from path: String, _ recorded: RecordedContainer,
        to target: String
    ) throws(PipelineError) -> Pipeline {
        let fragments = recorded.fragments
        let pipeline = try Pipeline(
            parsing: recorded.isOrdinary
                ? "filesrc name=in ! filesink name=out" : text(for: streams, fragments))
        pipeline.element(named: "in")?.set(literally: "location", path)
        pipeline.element(named: "out")?.set(literally: "location", target)
        guard let muxer = pipeline.element(named: "mux") else { return pipeline }
        if let fragments { pipeline.element(named: "in")?.pad("src")?.overwrite(fragments.patches) }
        if structure == .matroska {
            pipeline.element(named: "d")?.onSourcePad { $0.keepTimestamps() }
            let length = RecordedTracks.end(of: streams) - RecordedTracks.start(of: streams)
            let light = streams.lazy.compactMap { PictureLight($0.caps) }.first
            MatroskaHeader.correct(muxer, created: recorded.created, light: light) { length }
        }
        if isMovie {
            let header = FragmentHeader(created: recorded.created)
            muxer.pad("src")?.rewrite(FragmentHeader.isMeant) { header.edit($0) }
        }
        // Without this, mp4mux would change its timescale in the middle, also for samples already written.
        if let fragments {
            pipeline.element(named: "d")?.onSourcePad { $0.correct(fragments) }
        }
        for stream in streams where isMovie {
            guard stream.isPicture else { continue }
            let times = stream.times.compactMap { $0 }
            let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
            let timescale = Self.timescale(seconds: Int(longest / 1_000_000_000))
            muxer.pad(stream.pad)?.set("trak-timescale", "\(timescale)")
        }
        return pipeline
    }

    private func text(
        for streams: [StreamScan.Stream], _ fragments: FragmentReading?
    ) throws(PipelineError) -> String {
        var text =
            "\(FragmentReading.source("in", fragments)) ! \(demuxer) name=d "
            + "\(finalMuxer) name=mux ! filesink name=out"
            + " multiqueue name=queue max-size-buffers=500 max-size-time=0 max-size-bytes=268435456"
        let recorded = RecordedStream.numbered(streams.map(\.kind))
        for (index, stream) in streams.enumerated() {
            let isAAC = stream.caps.map { AudioCodec($0) } == .aac
            let parser = between(stream.mediaType, isAAC: isAAC).map { "\($0) ! " } ?? ""
            let entry = try entry(for: stream, recorded[index])
            // The queue takes more of a stream than stated while another one is empty: a stream waits
            // for the others for as long as the file's interleaving requires. Behind `identity`, the
            // muxer has all of its pads before the first data.
            text +=
                " d.\(stream.pad) ! \(parser)identity ! queue.sink_\(index) queue.src_\(index) ! mux.\(entry)"
        }
        return text
    }

    private func entry(
        for stream: StreamScan.Stream, _ recorded: RecordedStream?
    ) throws(PipelineError) -> String {
        if self == .ts {
            // The PID, by which players identify the stream, from a pad name like video_0_0041.
            let number = stream.pad.split(separator: "_").last.flatMap { Int($0, radix: 16) }
            return "sink_\(number ?? 65)"
        }
        guard let recorded else {
            throw PipelineError(
                .streamFailed,
                message: "a track of \(stream.mediaType) cannot be kept, so nothing was changed")
        }
        return pad(for: recorded)
    }
}

extension StreamScan.Stream {
    var isPicture: Bool { kind == .video }

    /// `nil` for text and data.
    var kind: MediaKind? {
        if mediaType.hasPrefix("audio/") { return .audio }
        return mediaType.hasPrefix("video/") || mediaType.hasPrefix("image/") ? .video : nil
    }
}

// MARK: - Checks

/// Checks of a recording's tracks, before and after a repair.
enum RecordedTracks {
    /// Throws if the file contains no units.
    static func check(_ streams: [StreamScan.Stream], in path: String) throws(PipelineError) {
        guard streams.contains(where: { !$0.times.isEmpty }) else {
            throw PipelineError(
                .noFrames,
                message: "\(path) contains no frame: the recording ended before the first one")
        }
    }

    /// Throws if the new file lacks anything that the old one has.
    static func compare(
        _ before: [StreamScan.Stream], _ after: [StreamScan.Stream],
        _ container: RecordingContainer
    ) throws(PipelineError) {
        // Tracks without units are ignored.
        let before = before.filter { !$0.times.isEmpty }
        let after = after.filter { !$0.times.isEmpty }
        guard before.map(\.mediaType).sorted() == after.map(\.mediaType).sorted() else {
            throw difference(
                "tracks of \(list(before)), the new file tracks of \(list(after))")
        }
        // Except for MPEG-4, a file may begin at any time, so only times relative to the first are
        // compared.
        let shift = container.isMovie ? 0 : (first(after) ?? 0) - (first(before) ?? 0)
        var rest = after
        for stream in before {
            // The order of the tracks may differ, so each is matched with its counterpart.
            let index = rest.firstIndex {
                $0.mediaType == stream.mediaType
                    && mismatch(stream.times, $0.times, shift, container.precision) == nil
            }
            if let index {
                rest.remove(at: index)
                continue
            }
            let other = rest.first { $0.mediaType == stream.mediaType }?.times ?? []
            guard stream.times.count == other.count else {
                throw difference(
                    "\(stream.times.count) frames of \(stream.mediaType), the new file "
                        + "\(other.count)")
            }
            let place = mismatch(stream.times, other, shift, container.precision) ?? 0
            throw difference(
                "frame \(place) of \(stream.mediaType) at \(text(stream.times[place])), the new "
                    + "file at \(text(other[place]))")
        }
    }

    /// Returns the end of the last unit, which is taken to last as long as the one before it.
    static func end(of streams: [StreamScan.Stream]) -> MediaTime {
        let ends = streams.compactMap { stream -> Int64? in
            let times = stream.times.compactMap { $0 }.sorted().suffix(2)
            guard let first = times.first, let last = times.last else { return nil }
            return last + (last - first)
        }
        return MediaTime(nanoseconds: ends.max() ?? 0)
    }

    /// Returns the time of the first unit.
    static func start(of streams: [StreamScan.Stream]) -> MediaTime {
        MediaTime(nanoseconds: first(streams) ?? 0)
    }

    private static func mismatch(
        _ a: [Int64?], _ b: [Int64?], _ shift: Int64, _ precision: Int64
    ) -> Int? {
        guard a.count == b.count else { return min(a.count, b.count) }
        return a.indices.first { index in
            switch (a[index], b[index]) {
            case (let a?, let b?): abs(b - shift - a) > precision
            // A unit that had no time may get one.
            case (nil, _): false
            case (_?, nil): true
            }
        }
    }

    private static func first(_ streams: [StreamScan.Stream]) -> Int64? {
        streams.flatMap(\.times).compactMap { $0 }.min()
    }

    private static func list(_ streams: [StreamScan.Stream]) -> String {
        streams.isEmpty ? "nothing" : streams.map(\.mediaType).joined(separator: ", ")
    }

    private static func text(_ time: Int64?) -> String {
        time.map { "\(MediaTime(nanoseconds: $0))" } ?? "no time"
    }

    private static func difference(_ what: String) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the repair failed: the recording has \(what)",
            advice: "keep the recording, which is unchanged")
    }
}
