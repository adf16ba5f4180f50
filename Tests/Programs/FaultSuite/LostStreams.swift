import Foundation
import TestSupport

/// Streams that start late, end early, or never start.
enum LostStreams {
    static let promises =
        Subject.kinds.map { isCopy in
            Promise(
                name: "late-stream", fault: "Video begins three seconds after audio, in FLV",
                isCopy: isCopy, text: "every frame and every second of audio is recorded"
            ) { _ in try await late(isCopy) }
        } + [
            // Not raw: a busy encoder of a live stream evicts frames, which nothing reports after a kill.
            Promise(
                name: "ended-video", fault: "Video ends, audio continues, then kill -9",
                isCopy: true, text: "every frame is kept, and the audio that was written"
            ) { options in try await killed(options.subjects(true)) },
            Promise(
                name: "lost-stream", fault: "No decoder for the audio in the string",
                text: "all video is recorded; the run fails and names the audio"
            ) { _ in try await lost() },
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
            // Of the 258 blocks one may be the encoder's delay.
            let samples = try await MediaProbe.audioSamples(of: out)
            complaints.expect(samples >= 257 * 1024, "\(samples) samples of audio")
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

    private static func killed(_ subjects: [Subject]) async throws -> Finding {
        var complaints = Complaints()
        var measured: [String] = []
        for subject in subjects {
            let (found, written) = try await killed(subject)
            let broken = found.complaints.filter { !Kills.isTorn($0) }
            complaints.expect(broken.isEmpty, "\(subject.name): \(broken.first ?? "")")
            complaints.expect(
                found.frames == pictures, "\(subject.name): \(found.frames) frames of \(pictures)")
            complaints.expect(
                found.soundLength >= written,
                "\(subject.name): \(found.soundLength.text) s of audio of \(written.text)")
            measured.append(
                "\(subject.name): \(found.frames) frames, \(found.soundLength.text) s of audio")
        }
        return Finding(measured.joined(separator: ", "), complaints: complaints.all)
    }

    /// The length of the video, in frames.
    private static let pictures = 30

    /// Kills a recording whose video ended, once two more seconds of audio are in the file.
    ///
    /// - Returns: What the file contains, and the length of the audio in seconds before the kill.
    private static func killed(_ subject: Subject) async throws -> (Judgement, Double) {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(subject.container)")
            var camera = Camera()
            camera.pictures = pictures
            let recording = try Recording(VictimOrder(camera, as: subject, into: path))
            defer { recording.child.send(signal: SIGKILL) }
            try await recording.untilTold("fileStarted")
            var written = 0.0
            let deadline = ContinuousClock.now + Duration.hangLimit
            while written < Double(pictures) / 30 + 2, ContinuousClock.now < deadline {
                // Polls, because the victim does not report what it has written.
                try await Task.sleep(for: .milliseconds(100))
                written = (try? await Judgement(of: path))?.soundLength ?? 0
            }
            recording.child.send(signal: SIGKILL)
            _ = try await recording.child.end()
            let found = try await Judgement(of: path)
            guard written > 2 else { throw Trouble(description: "no audio without video: \(path)") }
            return (found, written)
        }
    }

    private static func record(_ capture: String, _ out: String, _ options: [String] = [])
        async throws -> ChildProcess.Result
    {
        try await Tool.run(
            Tool.gstBridge, ["record", "--capture", capture, out] + options)
    }
}
