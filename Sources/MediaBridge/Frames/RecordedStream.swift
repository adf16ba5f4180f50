/// One stream of a recording: the video, or one of the audio tracks.
struct RecordedStream: Hashable, Comparable, Sendable {
    let kind: MediaKind
    /// The place among the streams of its kind, from 0.
    let number: Int

    init(_ kind: MediaKind, number: Int = 0) { (self.kind, self.number) = (kind, number) }

    static let video = Self(.video)
    /// The first audio track.
    static let audio = Self(.audio)

    /// The video first.
    static func < (one: Self, other: Self) -> Bool {
        (one.kind == .audio ? 1 : 0, one.number) < (other.kind == .audio ? 1 : 0, other.number)
    }

    /// `video`, `audio`, `audio2`, `audio3` …
    var name: String { kind.rawValue + (number == 0 ? "" : "\(number + 1)") }

    /// The name of the pad of most demuxers and muxers: `video_0`, `audio_0`, `audio_1` …
    var pad: String { "\(kind.rawValue)_\(number)" }

    /// Returns which stream of a recording each stream of a file is, by its kind and its place among those of the same
    /// kind; `nil` for text and data.
    static func numbered(_ kinds: [MediaKind?]) -> [RecordedStream?] {
        var counts: [MediaKind: Int] = [:]
        return kinds.map { kind -> RecordedStream? in
            guard let kind else { return nil }
            defer { counts[kind, default: 0] += 1 }
            return RecordedStream(kind, number: counts[kind, default: 0])
        }
    }

    /// Returns which of the captures' streams are taken, and as what: `audio`, `audio2` … as audio; as video `video`
    /// or, without it, the first stream that is no audio.
    static func taken(from names: [String]) -> [String: RecordedStream] {
        var streams: [String: RecordedStream] = [:]
        let sound = names.compactMap { name in audioNumber(name).map { ($0, name) } }.sorted {
            $0 < $1
        }
        for (number, (_, name)) in sound.enumerated() {
            streams[name] = Self(.audio, number: number)
        }
        let pictures = names.contains(video.name) ? video.name : names.first { streams[$0] == nil }
        if let pictures { streams[pictures] = .video }
        return streams
    }

    /// Returns the number in the name of an audio stream; `nil` for any other name.
    private static func audioNumber(_ name: String) -> Int? {
        guard name.hasPrefix(audio.name) else { return nil }
        let rest = name.dropFirst(audio.name.count)
        return rest.isEmpty ? 1 : rest.first?.isWholeNumber == true ? Int(rest) : nil
    }
}
