import Foundation

/// The ffprobe report of a file. ffprobe shares no code with GStreamer.
public struct MediaProbe: Sendable {
    public struct Stream: Sendable {
        /// `video` or `audio`.
        public var kind: String
        /// `h264`, `vp8`, `opus` ….
        public var codec: String
        public var width: Int?
        public var height: Int?
        /// Audio samples per second.
        public var sampleRate: Int?
        public var channels: Int?
        /// The number of decoded frames. For audio these are blocks, not samples.
        public var frames: Int
    }

    /// `matroska,webm`, `mov,mp4,m4a,3gp,3g2,mj2` ….
    public var container: String
    /// Seconds; `nil` if the file has no duration.
    public var duration: Double?
    public var streams: [Stream]

    public var video: Stream? { streams.first { $0.kind == "video" } }
    public var audio: Stream? { streams.first { $0.kind == "audio" } }

    /// Decodes the whole file and counts its frames.
    ///
    /// - Throws: An error if ffprobe cannot read the file or reports any problem.
    public init(of path: String) async throws {
        let result = try await Tool.run(
            "ffprobe",
            ["-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json", path])
        guard result.status == 0, result.errors.isEmpty else {
            throw ChildProcess.Failure(description: "ffprobe \(path): \(result.errors)")
        }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(result.output.utf8))
        container = answer.format.format_name
        duration = answer.format.duration.flatMap { Double($0) }
        streams = answer.streams.map {
            Stream(
                kind: $0.codec_type, codec: $0.codec_name ?? "", width: $0.width, height: $0.height,
                sampleRate: $0.sample_rate.flatMap { Int($0) }, channels: $0.channels,
                frames: $0.nb_read_frames.flatMap { Int($0) } ?? 0)
        }
    }

    /// The timestamps of all video frames, in seconds, in display order.
    public static func videoTimes(of path: String) async throws -> [Double] {
        try await times(of: "v:0", in: path)
    }

    /// The timestamps of all audio frames, in seconds.
    public static func audioTimes(of path: String) async throws -> [Double] {
        try await times(of: "a:0", in: path)
    }

    private static func times(of stream: String, in path: String) async throws -> [Double] {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", stream, "-show_entries", "frame=pts_time", "-of",
                "csv=p=0", path,
            ]
        ).split(separator: "\n").compactMap { Double($0.trimmingCharacters(in: [","])) }
    }

    /// Whether each video packet is a keyframe, in storage order.
    public static func keyPackets(of path: String) async throws -> [Bool] {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=flags", "-of",
                "csv=p=0", path,
            ]
        ).split(separator: "\n").map { $0.contains("K") }
    }

    /// A hash of the bytes of each packet, in ffmpeg's order, without container data.
    public static func packets(of path: String) async throws -> [String] {
        try await hashes(of: path, ["-map", "0", "-c", "copy"])
    }

    /// A hash of each video frame as ffmpeg decodes it, before rotation.
    public static func pictures(of path: String) async throws -> [String] {
        // By default ffmpeg drops frames that are closer together than the frame rate.
        try await hashes(
            of: path, ["-map", "0:v", "-vsync", "passthrough"], input: ["-noautorotate"])
    }

    /// A hash of each frame of a raw video file.
    ///
    /// - Parameters:
    ///   - format: ffmpeg's name of the pixel format.
    ///   - size: For example `160x120`.
    public static func rawPictures(
        of path: String, format: String, size: String
    ) async throws -> [String] {
        try await hashes(
            of: path, [], input: ["-f", "rawvideo", "-pix_fmt", format, "-s", size])
    }

    private static func hashes(
        of path: String, _ options: [String], input: [String] = []
    ) async throws -> [String] {
        let lines = try await Tool.check(
            "ffmpeg",
            ["-v", "error"] + input + ["-i", path] + options + ["-f", "framemd5", "-"])
        return lines.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { String($0) } }
    }

    /// The number of decoded audio samples per channel.
    public static func audioSamples(of path: String) async throws -> Int {
        let raw = path + ".samples.raw"
        defer { try? FileManager.default.removeItem(atPath: raw) }
        try await Tool.check(
            "ffmpeg",
            ["-v", "error", "-y", "-i", path, "-map", "0:a:0", "-ac", "1", "-f", "s16le", raw])
        let size = try FileManager.default.attributesOfItem(atPath: raw)[.size] as? Int
        return (size ?? 0) / 2
    }

    /// The luma of each video frame, averaged over `columns` × `rows` fields: enough to distinguish
    /// frames.
    public static func luma(of path: String, columns: Int = 1, rows: Int = 1) async throws
        -> [[UInt8]]
    {
        let raw = path + ".luma.raw"
        defer { try? FileManager.default.removeItem(atPath: raw) }
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-vf",
                "scale=\(columns):\(rows):flags=area,format=gray", "-f", "rawvideo", raw,
            ])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: raw)))
        let size = columns * rows
        return stride(from: 0, to: bytes.count - bytes.count % size, by: size).map {
            Array(bytes[$0..<$0 + size])
        }
    }

    /// The average colour of the first video frame; each component is from 0 to 255.
    public static func colour(
        of path: String
    ) async throws -> (red: Int, green: Int, blue: Int) {
        let raw = path + ".colour.raw"
        defer { try? FileManager.default.removeItem(atPath: raw) }
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-i", path, "-frames:v", "1", "-vf",
                "scale=1:1:flags=area,format=rgb24", "-f", "rawvideo", raw,
            ])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: raw))).map(Int.init)
        guard bytes.count == 3 else {
            throw ChildProcess.Failure(description: "\(path) has no picture")
        }
        return (bytes[0], bytes[1], bytes[2])
    }

    // The names are ffprobe's.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Answer: Decodable {
        struct Stream: Decodable {
            var codec_type: String
            var codec_name: String?
            var width: Int?
            var height: Int?
            var sample_rate: String?
            var channels: Int?
            var nb_read_frames: String?
        }
        struct Format: Decodable {
            var format_name: String
            var duration: String?
        }
        var streams: [Stream]
        var format: Format
    }
}

extension MediaProbe {
    /// The mean luma of each decoded video frame, from 0 to 255.
    public static func meanLuma(of path: String) async throws -> [Double] {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-f", "lavfi", "-i", "movie=\(path),signalstats", "-show_entries",
                "frame_tags=lavfi.signalstats.YAVG", "-of", "csv=p=0",
            ]
        ).split(separator: "\n").compactMap { Double($0.trimmingCharacters(in: [","])) }
    }
}
