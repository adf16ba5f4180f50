import Foundation
import TestSupport

/// ffprobe's findings about a file after a fault: a check that shares no code with GStreamer.
struct Judgement: Sendable {
    /// The number of decoded frames.
    var frames = 0
    /// The presentation times of the first and last frame, in seconds.
    var firstPicture: Double?
    var lastPicture = 0.0
    /// The end of each audio track, in seconds, by the number of its stream.
    private var soundEnds: [Substring: Double] = [:]
    /// The number of audio tracks with frames.
    var soundTracks: Int { soundEnds.count }
    /// The earliest end of an audio track, in seconds; `nil` without audio.
    var soundEnd: Double? { soundEnds.values.min() }
    /// From the first frame to the end of the audio; a transport stream does not start at zero.
    var soundLength: Double { (soundEnd ?? 0) - (firstPicture ?? 0) }
    /// The beginning of the audio, in seconds; `nil` without audio.
    var soundBegin: Double?
    /// From the beginning of the first stream to the end of the last one, in seconds. A slow machine encodes pictures
    /// later than audio.
    var length: Double {
        max(lastPicture, soundEnd ?? 0) - min(firstPicture ?? 0, soundBegin ?? .infinity)
    }
    /// The frame sizes: `320x240`.
    var sizes: Set<String> = []
    /// ffprobe's error messages.
    var complaints: [String] = []

    /// Decodes the whole file.
    ///
    /// - Throws: If the file cannot be opened.
    init(of path: String) async throws {
        let result = try await Tool.run(
            "ffprobe",
            [
                "-v", "error", "-show_entries",
                "frame=media_type,stream_index,pts_time,duration_time,nb_samples,width,height",
                "-of",
                "compact=p=0", path,
            ])
        complaints = result.errors.split(separator: "\n").map(String.init)
        guard result.status == 0 else {
            throw Trouble(description: "ffprobe \(path): \(result.errors)")
        }
        for line in result.output.split(separator: "\n") {
            var fields: [Substring: Substring] = [:]
            for field in line.split(separator: "|") {
                let parts = field.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { fields[parts[0]] = parts[1] }
            }
            let time = fields["pts_time"].flatMap { Double($0) }
            switch fields["media_type"] {
            case "video":
                frames += 1
                if let time {
                    firstPicture = min(firstPicture ?? time, time)
                    lastPicture = max(lastPicture, time)
                }
                sizes.insert("\(fields["width"] ?? "")x\(fields["height"] ?? "")")
            case "audio":
                let length = fields["duration_time"].flatMap { Double($0) } ?? 0
                if let time {
                    soundBegin = min(soundBegin ?? time, time)
                    let track = fields["stream_index"] ?? ""
                    soundEnds[track] = max(soundEnds[track] ?? 0, time + length)
                }
            default: break
            }
        }
    }
}
