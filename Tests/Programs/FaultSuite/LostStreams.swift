import Foundation
import TestSupport

/// Streams that start late, or never.
enum LostStreams {
    static let promises =
        Subject.kinds.map { isCopy in
            Promise(
                name: "late-stream", fault: "Video begins three seconds after audio, in FLV",
                isCopy: isCopy, text: "every frame and every second of audio is recorded"
            ) { _ in try await late(isCopy) }
        } + [
            Promise(
                name: "lost-stream", fault: "No decoder for the audio in the string",
                text: "all video is recorded; the run fails and names the audio"
            ) { _ in try await lost() }
        ]

    private static func make(_ muxer: String, at path: String) async throws {
        try await Tool.check(
            "gst-launch-1.0",
            "-q audiotestsrc num-buffers=258 ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse ! \(muxer) name=m ! filesink location=\(path) videotestsrc num-buffers=60 timestamp-offset=3000000000 ! video/x-raw,width=64,height=48,framerate=30/1 ! x264enc key-int-max=15 ! h264parse ! m."
                .split(separator: " ").map(String.init))
    }

    private static func late(_ isCopy: Bool) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            let (film, out) = (directory.file("film.flv"), directory.file("out.mkv"))
            try await make("flvmux", at: film)
            let result = try await record(
                "filesrc location=\(film) ! flvdemux name=d d.video ! h264parse ! "
                    + (isCopy ? "" : "avdec_h264 ! videoconvert ! ") + "appsink name=video "
                    + "d.audio ! aacparse ! " + (isCopy ? "" : "avdec_aac ! audioconvert ! ")
                    + "appsink name=audio", out,
                isCopy ? ["--video", "copy", "--audio", "copy"] : [])
            let judgement = try await Judgement(of: out)
            var complaints = Complaints()
            complaints.expect(result.status == 0, "exit \(result.status): \(result.errors)")
            complaints.expect(judgement.frames == 60, "\(judgement.frames) frames of 60")
            let sound = judgement.soundEnd ?? 0
            complaints.expect(sound > 5.8, "\(sound.text) s of audio")
            return Finding(
                "\(judgement.frames) of 60 frames, \(sound.text) s of audio",
                complaints: complaints.all)
        }
    }

    private static func lost() async throws -> Finding {
        try await withTemporaryDirectory { directory in
            let (film, out) = (directory.file("film.mkv"), directory.file("out.mkv"))
            try await make("matroskamux", at: film)
            let result = try await record(
                "filesrc location=\(film) ! matroskademux name=d d. ! h264parse ! avdec_h264 ! "
                    + "videoconvert ! appsink name=video d. ! vorbisdec ! audioconvert ! "
                    + "appsink name=audio", out)
            let judgement = try await Judgement(of: out)
            var complaints = Complaints()
            complaints.expect(result.status == 1, "exit \(result.status)")
            complaints.expect(
                result.errors.contains("the stream \"audio\" never appeared"),
                "errors: \(result.errors)")
            complaints.expect(judgement.frames == 60, "\(judgement.frames) frames of 60")
            return Finding(
                "exit \(result.status), \(judgement.frames) of 60 frames",
                complaints: complaints.all)
        }
    }

    private static func record(_ capture: String, _ out: String, _ options: [String] = [])
        async throws -> ChildProcess.Result
    {
        try await Tool.run(
            Tool.gstBridge, ["record", "--capture", capture, out] + options)
    }
}
