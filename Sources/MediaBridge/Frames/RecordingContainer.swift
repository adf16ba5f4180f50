/// The container formats that a ``Recorder`` writes, chosen by the file name's extension.
public enum RecordingContainer: String, Sendable, CaseIterable {
    /// Matroska. If the process is killed, one frame is lost.
    case mkv
    /// MPEG-4. It is written in fragments of 0.4 s, of which the last is lost if the process is
    /// killed. The finished file has one index and no fragments, unless
    /// ``Recorder/Configuration/isFragmented`` is set.
    case mp4
    /// QuickTime, which editors open. It is written as ``mp4`` is. The finished file has a timecode track: the local time
    /// of day of its first picture.
    case mov
    /// WebM: a subset of Matroska for browsers.
    case webm
    /// MPEG transport stream.
    case ts
    /// Ogg, with audio only. If the process is killed, half a second is lost at most.
    case ogg
    /// A FLAC stream. If the process is killed, a tenth of a second is lost.
    case flac
    /// WAVE, with uncompressed samples. The length of an interrupted file is not in its header; players read it
    /// to its end.
    case wav

    /// Chooses the container by the extension of `path`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for any other extension, and for
    ///   a path with line breaks or control characters.
    public init(path: String) throws(PipelineError) {
        try FileSize.requireUsableName(path)
        let ending = path.split(separator: "/").last?.split(separator: ".").last ?? ""
        let known = ending.lowercased() == "m4a" ? .mp4 : Self(rawValue: ending.lowercased())
        guard path.contains("."), let known else {
            throw PipelineError(
                .badValue, message: "the file extension of \"\(path)\" selects no container",
                advice: "a name that ends in "
                    + (Self.allCases.map(\.rawValue) + ["m4a"]).map { ".\($0)" }
                    .joined(separator: ", "))
        }
        self = known
    }

    /// Whether the name of a file says that it contains only audio.
    package static func isOfSound(path: String) -> Bool {
        let ending = path.split(separator: ".").last?.lowercased() ?? ""
        return ["m4a", "ogg", "flac", "wav"].contains(ending)
    }

    /// Returns the muxer, set up so that everything written so far can be played even if nothing
    /// follows.
    ///
    /// - Parameter starts: The start time of each stream.
    func muxer(starts: [RecordedStream: MediaTime]) -> String {
        switch self {
        case .mkv: "matroskamux"
        // Not `first-moov-then-finalise`, which would complete the file as ``MovieFinish`` does: until
        // then, GStreamer 1.22 leaves out the size of a fragment's last sample if it equals that of
        // the first, and the file of a killed process cannot be read.
        case .mp4: "mp4mux fragment-duration=400 fragment-mode=dash-or-mss"
        case .mov: "qtmux fragment-duration=400 fragment-mode=dash-or-mss"
        case .webm: "webmmux"
        case .ts: "mpegtsmux\(Self.clockReference(starts))"
        case .ogg: "oggmux"
        // It writes the header in front of the first frame.
        case .flac: "flacparse"
        case .wav: "wavenc"
        }
    }

    /// What a file consists of.
    enum Structure {
        /// The boxes of ISO/IEC 14496-12.
        case movie
        /// The elements of Matroska.
        case matroska
        /// The packets of MPEG.
        case transportStream
        /// A FLAC stream: its header states the length.
        case flac
        /// A stream that needs no index.
        case stream
    }

    var structure: Structure {
        switch self {
        case .mp4, .mov: .movie
        case .mkv, .webm: .matroska
        case .ts: .transportStream
        case .flac: .flac
        case .ogg, .wav: .stream
        }
    }

    var isMovie: Bool { structure == .movie }

    /// The muxer without fragments, which writes its index at the end.
    var finalMuxer: String {
        isMovie ? String(muxer(starts: [:]).prefix { $0 != " " }) : muxer(starts: [:])
    }

    /// Loads the muxer's plugin, ahead of the first file.
    ///
    /// - Throws: ``PipelineError`` if it is not installed.
    func load() throws(PipelineError) {
        _ = try Pipeline(parsing: "\(muxer(starts: [:])) ! filesink")
    }

    /// Makes the audio carry the program clock reference (PCR) if it begins long before the video,
    /// which carries it otherwise: tsdemux 1.22 discards data from long before the first reference.
    private static func clockReference(_ starts: [RecordedStream: MediaTime]) -> String {
        guard let video = starts[.video], let first = starts.min(by: { $0.value < $1.value }),
            video - first.value > MediaTime(nanoseconds: 1_000_000_000)
        else { return "" }
        let pads = starts.keys.map { Self.ts.pad(for: $0) + "=1," }.joined()
        return " prog-map=program_map,\(pads)PCR_1=\(Self.ts.pad(for: first.key))"
    }

    /// Whether the container holds several streams.
    var takesSeveralStreams: Bool { self != .flac && self != .wav }

    /// The smallest width and height of pictures that the muxer takes, in pixels.
    var leastSide: Int {
        switch self {
        case .mp4, .mov, .webm: 16
        case .mkv, .ts, .ogg, .flac, .wav: 1
        }
    }

    /// The name of the muxer's pad for a stream.
    func pad(for stream: RecordedStream) -> String {
        switch self {
        case .ts: "sink_\((stream == .video ? 65 : 66) + stream.number)"
        case .flac, .wav: "sink"
        case .ogg: "audio_%u"
        case .mkv, .mp4, .mov, .webm: stream.pad
        }
    }

    /// Makes mp4mux and qtmux store the times of pictures of a low frame rate exactly. They choose 100 units per frame by
    /// themselves, in whole units per second: 10 ms at one frame per second, and none at all at one per hour.
    ///
    /// - Parameter caps: The pictures' format.
    func setTimescale(_ muxer: Element?, for caps: Caps) {
        guard isMovie, let rate = caps.frameRate else { return }
        let own = 100 * rate.numerator / rate.denominator
        guard !(1000...Int(UInt32.max)).contains(own) else { return }
        let timescale = Self.timescale(seconds: rate.denominator / rate.numerator)
        muxer?.pad(pad(for: .video))?.set("trak-timescale", "\(timescale)")
    }

    /// Units per second in which the frame duration of every usual frame rate is an integer; fewer if frames last
    /// for hours, because a duration has 32 bits.
    ///
    /// - Parameter seconds: How long the longest frame lasts.
    static func timescale(seconds: Int) -> Int { seconds > 3600 ? 1000 : 120_000 }

    // MARK: Reading

    var demuxer: String {
        switch self {
        case .mkv, .webm: "matroskademux"
        case .mp4, .mov: "qtdemux"
        case .ts: "tsdemux"
        case .ogg: "oggdemux"
        case .flac: "flacparse"
        case .wav: "wavparse"
        }
    }

    /// By file extension.
    static let endings: [String: RecordingContainer] = [
        "mkv": .mkv, "mka": .mkv, "webm": .webm, "mp4": .mp4, "m4v": .mp4, "m4a": .mp4,
        "mov": .mov, "ts": .ts, "mts": .ts, "m2ts": .ts, "ogg": .ogg, "flac": .flac, "wav": .wav,
    ]

    /// By how much a container rounds the time of a unit, in nanoseconds.
    var precision: Int64 {
        switch self {
        case .mkv, .webm, .mp4, .mov, .ogg: 1_000_000
        case .ts, .flac, .wav: 100_000
        }
    }

    /// Whether a finished file states its duration; otherwise demuxers estimate it.
    var statesDuration: Bool { self != .ts && self != .flac }

    /// By ``Caps/parserKey``: the parser that turns the demuxer's output into complete units.
    var parsers: [String: String] {
        // Demuxers deliver uncompressed samples in pieces of any size.
        if self == .mkv || self == .mov {
            return ["audio/x-raw": "audiobuffersplit output-buffer-duration=1/100"]
        }
        guard self == .ts else { return [:] }
        return [
            "video/x-h264": "h264parse", "video/x-h265": "h265parse",
            "video/mpeg": "mpegvideoparse", "audio/mpeg": "aacparse",
            Caps.mpeg1Sound: "mpegaudioparse", "audio/x-opus": "opusparse",
            "audio/x-ac3": "ac3parse",
        ]
    }
}
