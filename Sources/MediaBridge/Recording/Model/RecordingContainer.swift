/// The kinds of file that a ``Recorder`` writes, known by a name's ending.
public enum RecordingContainer: String, Sendable, CaseIterable {
    /// Matroska. A process that is killed loses one frame.
    case mkv
    /// MPEG-4, in fragments of 0.4 s, with an index of them at the end. A process that is killed
    /// loses the last fragment.
    case mp4
    /// WebM: Matroska for browsers.
    case webm
    /// MPEG transport stream.
    case ts

    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for any other ending.
    public init(path: String) throws(PipelineError) {
        let ending = path.split(separator: "/").last?.split(separator: ".").last ?? ""
        guard path.contains("."), let known = Self(rawValue: ending.lowercased()) else {
            throw PipelineError(
                .badValue, message: "no container is known by the ending of \"\(path)\"",
                advice: "a name that ends in "
                    + Self.allCases.map { ".\($0.rawValue)" }.joined(separator: ", "))
        }
        self = known
    }

    /// What pictures may be encoded as, the favourite first.
    public var videoCodecs: [VideoCodec] {
        switch self {
        case .mkv: [.h264, .vp8, .vp9, .mjpeg, .ffv1]
        case .mp4: [.h264, .vp9]
        case .webm: [.vp8, .vp9]
        case .ts: [.h264]
        }
    }

    /// What sound may be encoded as, the favourite first.
    public var audioCodecs: [AudioCodec] {
        switch self {
        case .mkv: [.opus, .aac, .flac]
        // Of Opus, mp4mux 1.22 and mpegtsmux do not tell how much a decoder must leave out.
        case .mp4, .ts: [.aac]
        case .webm: [.opus]
        }
    }

    /// The muxer, so set up that what is written can be played although nothing follows.
    ///
    /// - Parameter starts: When each stream begins.
    func muxer(starts: [RecordingKind: MediaTime]) -> String {
        switch self {
        case .mkv: "matroskamux"
        // Not first-moov-then-finalise, which would finish a file with one index: until then, GStreamer
        // 1.22 leaves the size of a fragment's last sample out where it is that of the first, and what a
        // killed process left cannot be read.
        case .mp4: "mp4mux fragment-duration=400 fragment-mode=dash-or-mss"
        case .webm: "webmmux"
        case .ts: "mpegtsmux\(Self.clockReference(starts))"
        }
    }

    /// Has sound that begins long before the pictures carry the program's clock reference (PCR), which the
    /// pictures carry otherwise: tsdemux 1.22 throws away what comes long before the first reference.
    private static func clockReference(_ starts: [RecordingKind: MediaTime]) -> String {
        guard let video = starts[.video], let audio = starts[.audio],
            video - audio > MediaTime(nanoseconds: 1_000_000_000)
        else { return "" }
        let pads = RecordingKind.allCases.map { Self.ts.pad(for: $0) + "=1," }.joined()
        return " prog-map=program_map,\(pads)PCR_1=\(Self.ts.pad(for: .audio))"
    }

    /// The muxer's pad for a stream.
    func pad(for kind: RecordingKind) -> String {
        switch (self, kind) {
        case (.ts, .video): "sink_65"
        case (.ts, .audio): "sink_66"
        case (_, .video): "video_0"
        case (_, .audio): "audio_0"
        }
    }
}

/// What a stream of a recording is.
enum RecordingKind: Int, Sendable, CaseIterable {
    case video, audio

    var name: String { self == .video ? "video" : "audio" }
}
