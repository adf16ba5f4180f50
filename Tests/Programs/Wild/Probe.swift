import Foundation
import TestSupport

/// ffprobe's findings about a file. Its complaints are kept, because the line itself may write a file
/// with errors.
struct Probe: Sendable {
    struct Stream: Sendable {
        var kind: String
        var isVideo: Bool { kind == "video" }
        /// The codec, and the visible or audible properties of the format.
        var about: String
        var frames: Int
        /// Frames per second, as a fraction; empty if unknown.
        var rate: String
        var seconds: Double?
    }

    var streams: [Stream]
    var seconds: Double?
    var complaints: [String]
    /// Only tags that a user sets.
    var tags: [String: String]

    /// The streams in a fixed order, independent of the file.
    var sorted: [Stream] { streams.sorted { ($0.kind, $0.about) < ($1.kind, $1.about) } }
    var kinds: [String] { sorted.map { "\($0.kind) \($0.about)" } }
}

extension Probe {
    /// `nil` if ffprobe cannot read the file.
    static func read(_ path: String) async throws -> Probe? {
        let result = try await Tool.run(
            "ffprobe",
            ["-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json", path])
        guard result.status == 0,
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(result.output.utf8)),
            let format = answer.format, let streams = answer.streams
        else { return nil }
        var tags: [String: String] = [:]
        for found in [format.tags ?? [:]] + streams.map({ $0.tags ?? [:] }) {
            for (name, value) in found where reported.contains(name.lowercased()) {
                tags[name.lowercased()] = value
            }
        }
        return Probe(
            streams: streams.map(\.stream), seconds: format.duration.flatMap { Double($0) },
            complaints: result.errors.split(separator: "\n").map(String.init), tags: tags)
    }

    private static let reported: Set = ["title", "artist", "album", "genre", "keywords"]

    // The names are ffprobe's.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Answer: Decodable {
        struct Stream: Decodable {
            var codec_type: String?
            var codec_name: String?
            var width: Int?
            var height: Int?
            var pix_fmt: String?
            var avg_frame_rate: String?
            var sample_rate: String?
            var channels: Int?
            var nb_read_frames: String?
            var duration: String?
            var tags: [String: String]?

            var stream: Probe.Stream {
                let size = width.map { "\($0)x\(height ?? 0)" }
                let sound = sample_rate.map { "\($0) Hz \(channels ?? 0) channels" }
                let words = [codec_name, size, pix_fmt, sound].compactMap(\.self)
                return Probe.Stream(
                    kind: codec_type ?? "", about: words.joined(separator: " "),
                    frames: nb_read_frames.flatMap { Int($0) } ?? 0, rate: avg_frame_rate ?? "",
                    seconds: duration.flatMap { Double($0) })
            }
        }
        struct Format: Decodable {
            var duration: String?
            var tags: [String: String]?
        }
        var streams: [Stream]?
        var format: Format?
    }
}
