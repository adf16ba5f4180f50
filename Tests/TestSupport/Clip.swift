/// A video file made by gst-launch-1.0: small, frame-exact and reproducible.
public struct Clip: Sendable {
    public var frames = 60
    public var framesPerSecond = 30
    public var width = 320
    public var height = 240
    /// Whether there is audio (48 kHz, stereo) of the same duration as the video.
    public var hasAudio = true

    public init() {}

    /// Audio samples per channel.
    public var samples: Int { hasAudio ? frames * 48000 / framesPerSecond : 0 }

    /// Encodes the file, in H.264 with Opus (`.mkv`) or AAC (`.mp4`).
    ///
    /// - Returns: `path`.
    @discardableResult
    public func make(at path: String) async throws -> String {
        let isMP4 = path.hasSuffix(".mp4")
        var arguments = [
            "-q", "videotestsrc", "num-buffers=\(frames)", "pattern=ball", "!",
            "video/x-raw,width=\(width),height=\(height),framerate=\(framesPerSecond)/1", "!",
            "x264enc", "speed-preset=ultrafast", "!", "h264parse", "!", "queue", "!", "mux.",
        ]
        if hasAudio {
            // One buffer per video frame, so that audio and video end together.
            arguments += [
                "audiotestsrc", "num-buffers=\(frames)",
                "samplesperbuffer=\(48000 / framesPerSecond)", "!",
                "audio/x-raw,rate=48000,channels=2", "!", isMP4 ? "avenc_aac" : "opusenc", "!",
                "queue", "!", "mux.",
            ]
        }
        arguments += [isMP4 ? "mp4mux" : "matroskamux", "name=mux", "!", "filesink"]
        try await Tool.check("gst-launch-1.0", arguments + ["location=\(path)"])
        return path
    }
}
