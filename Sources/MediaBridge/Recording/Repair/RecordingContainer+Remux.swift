extension RecordingContainer {
    var demuxer: String {
        switch self {
        case .mkv, .webm: "matroskademux"
        case .mp4: "qtdemux"
        case .ts: "tsdemux"
        }
    }

    /// By media type, what makes whole units of what the demuxer gives.
    var parsers: [String: String] {
        guard self == .ts else { return [:] }
        return [
            "video/x-h264": "h264parse", "video/x-h265": "h265parse",
            "video/mpeg": "mpegvideoparse", "audio/mpeg": "aacparse", "audio/x-opus": "opusparse",
            "audio/x-ac3": "ac3parse",
        ]
    }

    /// By media type, what stands between the demuxer and the muxer.
    private var between: [String: String] {
        // matroskademux 1.22 leaves out what matroskamux asks for, and misspells it.
        parsers.isEmpty
            ? [
                "audio/x-flac": "flacparse",
                "video/x-ffv": "capssetter caps=video/x-ffv,ffversion=1",
            ] : parsers
    }

    /// Throws where a name promises another container than the recording has.
    func check(endingOf path: String) throws(PipelineError) {
        let name = path.split(separator: "/").last ?? ""
        guard let ending = name.split(separator: ".").dropFirst().last?.lowercased(),
            let other = Self.endings[ending], other != self
        else { return }
        throw PipelineError(
            .badValue,
            message:
                "the recording is \(rawValue), whatever its name is, and a repair does not make "
                + "\(other.rawValue) of it: \"\(path)\"",
            advice: "a name that ends in .\(rawValue)")
    }

    private static let endings: [String: RecordingContainer] = [
        "mkv": .mkv, "mka": .mkv, "webm": .webm, "mp4": .mp4, "m4v": .mp4, "m4a": .mp4,
        "mov": .mp4, "ts": .ts, "mts": .ts, "m2ts": .ts,
    ]

    /// Without fragments, and with its index at the end.
    private var finalMuxer: String { self == .mp4 ? "mp4mux" : muxer(starts: [:]) }

    /// A pipeline from a file with these streams to a new one.
    func remux(
        _ streams: [StreamScan.Stream], from path: String, fragments: FragmentReading?,
        to target: String
    ) throws(PipelineError) -> Pipeline {
        let pipeline = try Pipeline(parsing: text(for: streams))
        pipeline.element(named: "in")?.set(literally: "location", path)
        pipeline.element(named: "out")?.set(literally: "location", target)
        if let fragments { pipeline.element(named: "in")?.pad("src")?.overwrite(fragments.patches) }
        for (index, stream) in streams.enumerated() where self == .mp4 {
            // Otherwise mp4mux would count in other units in the middle, also what it has written.
            if let fragments {
                let exit = pipeline.element(named: "queue-\(index)")?.pad("src")
                exit?.keepFirstFormat()
                if !stream.isPicture { exit?.keepApart() }
                exit?.delay(by: fragments.delays[stream.pad] ?? 0)
            }
            // Units of a second that have every usual rate without a remainder.
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
            // A stream waits for the others as long as the file keeps them apart.
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
            // The number that players know the stream by: video_0_0041.
            let number = stream.pad.split(separator: "_").last.flatMap { Int($0, radix: 16) }
            return "sink_\(number ?? 65 + numbers.count)"
        }
        guard stream.isPicture || stream.mediaType.hasPrefix("audio/") else {
            throw PipelineError(
                .streamFailed,
                message: "a track of \(stream.mediaType) cannot be kept, so nothing is changed")
        }
        let kind = stream.isPicture ? "video" : "audio"
        defer { numbers[kind, default: 0] += 1 }
        return "\(kind)_\(numbers[kind, default: 0])"
    }

    /// How far a time may be from what it was, in nanoseconds: what the container rounds to.
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
