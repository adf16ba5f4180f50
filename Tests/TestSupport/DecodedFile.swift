import Foundation

/// All video frames and audio blocks of a file, as ffprobe decodes them.
public struct DecodedFile: Sendable {
    public struct Picture: Sendable {
        /// Seconds; `nil` if the decoder got no timestamp.
        public var time: Double?
        public var width: Int
        public var height: Int
    }
    public struct Block: Sendable {
        /// Seconds; `nil` if the decoder got no timestamp.
        public var time: Double?
        /// Samples per channel.
        public var samples: Int
    }
    public struct Stream: Sendable {
        public var kind: String
        public var codec: String
        /// Samples per second; `nil` for video.
        public var sampleRate: Int?
        public var channels: Int?
    }

    public var path: String
    public var streams: [Stream] = []
    public var pictures: [Picture] = []
    public var sound: [Block] = []
    /// The lines of ffprobe's error output, and an entry if ffprobe failed.
    public var complaints: [String] = []

    public var hasPictures: Bool { streams.contains { $0.kind == "video" } }
    public var soundStream: Stream? { streams.first { $0.kind == "audio" } }

    /// Decodes the whole file. An unreadable file has complaints and nothing else.
    public init(of path: String) async throws {
        self.path = path
        // Ten packets are too few for ffprobe to recognise a transport stream.
        let form = path.hasSuffix(".ts") ? ["-f", "mpegts"] : []
        let frame = "frame=media_type,pts_time,nb_samples,width,height"
        let stream = "stream=codec_type,codec_name,sample_rate,channels"
        let result = try await Tool.run(
            "ffprobe",
            [
                "-v", "error", "-threads", "1", "-show_entries", "\(stream):\(frame)",
                "-of", "compact",
            ] + form + [path])
        complaints = result.errors.split(separator: "\n").map(String.init)
        if result.status != 0 { complaints.append("ffprobe ended with \(result.status)") }
        for line in result.output.split(separator: "\n") { add(line) }
    }

    private mutating func add(_ line: Substring) {
        var fields: [Substring: Substring] = [:]
        let parts = line.split(separator: "|")
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { fields[pair[0]] = pair[1] }
        }
        func number(_ name: Substring) -> Int? { fields[name].flatMap { Int($0) } }
        let time = fields["pts_time"].flatMap { Double($0) }
        switch (parts.first, fields["media_type"]) {
        case ("stream", _):
            streams.append(
                Stream(
                    kind: String(fields["codec_type"] ?? ""),
                    codec: String(fields["codec_name"] ?? ""),
                    sampleRate: number("sample_rate"), channels: number("channels")))
        case ("frame", "video"):
            pictures.append(
                Picture(time: time, width: number("width") ?? 0, height: number("height") ?? 0))
        case ("frame", "audio"):
            sound.append(Block(time: time, samples: number("nb_samples") ?? 0))
        default: break
        }
    }

    /// The luma in the middle of every frame, in the luma's own range (16 is usually black).
    ///
    /// A single ffmpeg reads all files.
    ///
    /// - Returns: The luma values of each file, in display order.
    public static func lumaInTheMiddle(of paths: [String]) async throws -> [[UInt8]] {
        guard !paths.isEmpty else { return [] }
        let inputs = paths.flatMap { path in
            ["-threads", "1"] + (path.hasSuffix(".ts") ? ["-f", "mpegts"] : []) + ["-i", path]
        }
        let maps = paths.indices.flatMap { ["-map", "\($0):v:0"] }
        // Each frame is one byte, and the checksum of one byte is the byte.
        let text = try await Tool.check(
            "ffmpeg",
            ["-v", "error", "-nostdin"] + inputs + maps + [
                "-fps_mode", "passthrough",
                "-vf",
                "extractplanes=y,crop=2:2,scale=1:1:flags=area:in_range=full:out_range=full,"
                    + "format=gray", "-f", "framecrc", "-",
            ])
        var luma = paths.map { _ in [UInt8]() }
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: [" "]) }
            guard fields.count >= 6, let stream = Int(fields[0]),
                let sum = UInt32(fields[5].dropFirst(2), radix: 16), luma.indices.contains(stream)
            else { continue }
            luma[stream].append(UInt8(truncatingIfNeeded: sum))
        }
        return luma
    }
}
