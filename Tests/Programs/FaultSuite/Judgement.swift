import Foundation
import TestSupport

/// What ffprobe finds in a file that a fault left behind: a judge that shares no code with GStreamer.
struct Judgement: Sendable {
    /// Pictures that were decoded.
    var frames = 0
    /// When the first and the last of them are shown, in seconds.
    var firstPicture: Double?
    var lastPicture = 0.0
    /// Where the last sound ends, in seconds; none without sound.
    var soundEnd: Double?
    /// From the first picture to the end of sound; a transport stream does not begin at zero.
    var soundLength: Double { (soundEnd ?? 0) - (firstPicture ?? 0) }
    /// Sizes that pictures have: `320x240`.
    var sizes: Set<String> = []
    /// What it complained of.
    var complaints: [String] = []

    /// Decodes the whole file.
    ///
    /// - Throws: Where it cannot be opened.
    init(of path: String) async throws {
        let result = try await Tool.run(
            "ffprobe",
            [
                "-v", "error", "-show_entries",
                "frame=media_type,pts_time,duration_time,nb_samples,width,height", "-of",
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
                if let time { soundEnd = max(soundEnd ?? 0, time + length) }
            default: break
            }
        }
    }
}
