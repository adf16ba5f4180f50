import Foundation
import TestSupport
import Testing

/// A recording by gst-launch-1.0 that is killed in the middle.
struct KilledRecording: Sendable, CustomTestStringConvertible {
    let name: String
    /// The pipeline from raw frames to the muxer `m`, followed by the audio branch, if there is
    /// one.
    let text: String

    var testDescription: String { name }

    /// A short queue, so that captured frames soon reach the file.
    private static let queue = "queue max-size-buffers=4"
    private static let h264 = "x264enc tune=zerolatency key-int-max=30 ! h264parse ! m."
    private static let fragments = "mp4mux fragment-duration=500 fragment-mode=1"

    static let all = [
        KilledRecording("h264-opus.mkv", "matroskamux", h264, "opusenc"),
        KilledRecording(
            "b-frames.mkv", "matroskamux",
            "x264enc bframes=2 rc-lookahead=5 key-int-max=30 ! h264parse ! m."),
        KilledRecording("mjpeg-aac.mkv", "matroskamux", "jpegenc ! m.", "avenc_aac"),
        KilledRecording("ffv1-flac.mkv", "matroskamux", "avenc_ffv1 ! m.", "flacenc"),
        KilledRecording(
            "two-pictures.mkv", "matroskamux",
            "tee name=t ! \(queue) ! vp8enc deadline=1 ! m. t. ! \(queue) ! jpegenc ! m."),
        KilledRecording("vp8-opus.webm", "webmmux", "vp8enc deadline=1 ! m.", "opusenc"),
        KilledRecording("vp9.webm", "webmmux", "vp9enc deadline=1 cpu-used=8 ! m."),
        KilledRecording("h264-aac.mp4", fragments, h264, "avenc_aac"),
        KilledRecording(
            "b-frames.mp4", fragments,
            "x264enc bframes=2 rc-lookahead=5 key-int-max=30 ! h264parse ! m."),
        KilledRecording("h264-aac.ts", "mpegtsmux", h264, "avenc_aac"),
    ]

    init(_ name: String, _ muxer: String, _ pictures: String, _ sound: String? = nil) {
        self.name = name
        var text =
            "videotestsrc pattern=ball ! video/x-raw,width=160,height=120,framerate=30/1 ! "
            + "identity silent=false sleep-time=3000 ! \(Self.queue) ! \(pictures) "
            + "\(muxer) name=m ! filesink name=file buffer-mode=2"
        if let sound {
            text +=
                " audiotestsrc samplesperbuffer=1600 ! audio/x-raw,rate=48000,channels=2 ! queue "
                + "! \(sound) ! m."
        }
        self.text = text
    }

    /// Records, and kills the program with SIGKILL once it has captured three seconds of video.
    ///
    /// - Returns: The path of the incomplete file.
    func make(in directory: TemporaryDirectory) async throws -> String {
        let path = directory.file(name)
        let words = text.replacing("name=file", with: "location=\(path)").split(separator: " ")
        try await withChildProcess("gst-launch-1.0", ["-v"] + words.map(String.init)) { child in
            try await child.waitForOutput("pts: 0:00:03.0")
            child.send(signal: SIGKILL)
            _ = try await child.end()
        }
        return path
    }
}

/// The packets of a file, which ffprobe reads without decoding.
struct Packets: Equatable, Sendable {
    struct Stream: Equatable, Sendable {
        var kind: String
        /// In microseconds, in the order of the file.
        var times: [Int]
    }
    var streams: [Stream]
    /// In seconds; `nil` if the file does not state it.
    var duration: Double?

    var pictures: [Stream] { streams.filter { $0.kind == "video" } }
    var sound: [Stream] { streams.filter { $0.kind == "audio" } }

    init(of path: String) async throws {
        let text = try await Tool.check(
            "ffprobe",
            [
                "-v", "quiet", "-show_entries",
                "packet=stream_index,pts_time:stream=index,codec_type:format=duration", "-of",
                "json", path,
            ])
        let answer = try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        duration = answer.format.duration.flatMap { Double($0) }
        streams = answer.streams.map { stream in
            Stream(
                kind: stream.codec_type,
                times: answer.packets.filter { $0.stream_index == stream.index }.map {
                    Int(((Double($0.pts_time ?? "") ?? 0) * 1e6).rounded())
                })
        }
    }

    // These are ffprobe's names.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Answer: Decodable {
        struct Packet: Decodable {
            var stream_index: Int
            var pts_time: String?
        }
        struct Stream: Decodable {
            var index: Int
            var codec_type: String
        }
        struct Format: Decodable { var duration: String? }
        var packets: [Packet]
        var streams: [Stream]
        var format: Format
    }
}
