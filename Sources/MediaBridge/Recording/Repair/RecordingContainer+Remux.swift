extension RecordingContainer {
    var demuxer: String {
        switch self {
        case .mkv, .webm: "matroskademux"
        case .mp4: "qtdemux"
        case .ts: "tsdemux"
        }
    }

    /// By media type: the parser that turns the demuxer's output into complete units.
    var parsers: [String: String] {
        guard self == .ts else { return [:] }
        return [
            "video/x-h264": "h264parse", "video/x-h265": "h265parse",
            "video/mpeg": "mpegvideoparse", "audio/mpeg": "aacparse", "audio/x-opus": "opusparse",
            "audio/x-ac3": "ac3parse",
        ]
    }

    /// By media type: the element between the demuxer and the muxer.
    private var between: [String: String] {
        // matroskademux 1.22 leaves out caps fields that matroskamux requires, or misspells them.
        parsers.isEmpty
            ? [
                "audio/x-flac": "flacparse",
                "video/x-ffv": "capssetter caps=video/x-ffv,ffversion=1",
            ] : parsers
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

    private static let endings: [String: RecordingContainer] = [
        "mkv": .mkv, "mka": .mkv, "webm": .webm, "mp4": .mp4, "m4v": .mp4, "m4a": .mp4,
        "mov": .mp4, "ts": .ts, "mts": .ts, "m2ts": .ts,
    ]

    /// The muxer without fragments, which writes its index at the end.
    private var finalMuxer: String { self == .mp4 ? "mp4mux" : muxer(starts: [:]) }

    /// Creates a pipeline that copies these streams of a file into a new one.
    func remux(
        _ streams: [StreamScan.Stream], from path: String, fragments: FragmentReading?,
        to target: String
    ) throws(PipelineError) -> Pipeline {
        let pipeline = try Pipeline(parsing: text(for: streams))
        pipeline.element(named: "in")?.set(literally: "location", path)
        pipeline.element(named: "out")?.set(literally: "location", target)
        if let fragments { pipeline.element(named: "in")?.pad("src")?.overwrite(fragments.patches) }
        if self == .mkv || self == .webm {
            let end = RecordedTracks.end(of: streams)
            SegmentDuration.correct(pipeline.element(named: "mux")) { end }
        }
        for (index, stream) in streams.enumerated() where self == .mp4 {
            // Without this, mp4mux would change its timescale in the middle, also for samples
            // already written.
            if let fragments {
                let exit = pipeline.element(named: "queue-\(index)")?.pad("src")
                exit?.keepFirstFormat()
                if !stream.isPicture { exit?.keepApart() }
                exit?.delay(by: fragments.delays[stream.pad] ?? 0)
            }
            // A timescale in which the frame duration of every usual frame rate is an integer.
            guard stream.isPicture else { continue }
            pipeline.element(named: "mux")?.pad(stream.pad)?.set("trak-timescale", "120000")
        }
        return pipeline
    }

    private func text(for streams: [StreamScan.Stream]) throws(PipelineError) -> String {
        var text = "filesrc name=in ! \(demuxer) name=d \(finalMuxer) name=mux ! filesink name=out"
        var numbers: [String: Int] = [:]
        for (index, stream) in streams.enumerated() {
            let parser = between[stream.mediaType].map { "\($0) ! " } ?? ""
            let entry = try entry(for: stream, &numbers)
            // The queues are limited by bytes only: a stream waits for the others for as long as
            // the file's interleaving requires.
            text +=
                " d.\(stream.pad) ! \(parser)queue name=queue-\(index) max-size-buffers=0 "
                + "max-size-time=0 max-size-bytes=268435456 ! mux.\(entry)"
        }
        return text
    }

    private func entry(
        for stream: StreamScan.Stream, _ numbers: inout [String: Int]
    ) throws(PipelineError) -> String {
        if self == .ts {
            // The PID, by which players identify the stream, from a pad name like video_0_0041.
            let number = stream.pad.split(separator: "_").last.flatMap { Int($0, radix: 16) }
            return "sink_\(number ?? 65 + numbers.count)"
        }
        guard stream.isPicture || stream.mediaType.hasPrefix("audio/") else {
            throw PipelineError(
                .streamFailed,
                message: "a track of \(stream.mediaType) cannot be kept, so nothing was changed")
        }
        let kind = stream.isPicture ? "video" : "audio"
        defer { numbers[kind, default: 0] += 1 }
        return "\(kind)_\(numbers[kind, default: 0])"
    }

    /// The largest accepted change of a unit's time, in nanoseconds: the container's rounding.
    var precision: Int64 {
        switch self {
        case .mkv, .webm: 1_000_000
        case .mp4: 1_000_000
        case .ts: 100_000
        }
    }
}

extension StreamScan.Stream {
    fileprivate var isPicture: Bool {
        mediaType.hasPrefix("video/") || mediaType.hasPrefix("image/")
    }
}
