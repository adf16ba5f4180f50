import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Frames leave the bridge as they arrived: with identical bytes, samples and timestamps.
    @Suite(.hangGuard) struct FidelityTests {
        @Test(arguments: ["clip.mkv", "clip.mp4"])
        func outputMatchesThatOfGstLaunch(name: String) async throws {
            try await withTemporaryDirectory { directory in
                let clip = Clip()
                let path = try await clip.make(at: directory.file(name))
                let capture = "filesrc location=\(path) ! decodebin ! videoconvert"
                let convert = "video/x-raw,format=I420 ! filesink location="
                let expected = directory.file("expected.raw")
                try await Tool.check(
                    "gst-launch-1.0",
                    ["-q"]
                        + "\(capture) ! \(convert)\(expected)".split(separator: " ").map(
                            String.init)
                )
                let ended = try await GstBridge.run(
                    capture: "\(capture) ! video/x-raw,format=I420",
                    outputs: ["filesink location=\(directory.file("out.raw"))"])
                #expect(ended.status == 0, "\(ended.errors)")
                let size = clip.frames * clip.width * clip.height * 3 / 2
                let written = try bytes(of: directory.file("out.raw"))
                #expect(written.count == size)
                #expect(try written == bytes(of: expected))
                let report = try ended.report
                #expect(report.ended == "eos")
                #expect(report.capture.frames == clip.frames)
                #expect(report.capture.dropped == 0)
                #expect(report.only.frames == clip.frames)
                #expect(report.only.dropped == 0)
                #expect(report.only.bytes == size)
            }
        }

        @Test(
            arguments: [
                "I420", "NV12", "YUY2", "BGR", "BGRA", "GRAY8", "GRAY16_LE", "Y42B", "Y444",
                "I420_10LE", "P010_10LE",
            ], [[320, 240], [321, 241], [322, 242]])
        func rawFormatPassesUnchanged(format: String, size: [Int]) async throws {
            try await withTemporaryDirectory { directory in
                let pictures = try await RawPictures(
                    format, width: size[0], height: size[1], frames: 3, in: directory)
                let out = directory.file("out.raw")
                let launched = directory.file("launched.raw")
                try await Tool.check(
                    "gst-launch-1.0",
                    ["-q"]
                        + "\(pictures.capture) ! filesink location=\(launched)"
                        .split(separator: " ").map(String.init))
                let ended = try await GstBridge.run(
                    capture: pictures.capture, outputs: ["filesink location=\(out)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.only.frames == 3)
                #expect(try bytes(of: out) == bytes(of: launched))
                #expect(try bytes(of: out) == pictures.bytes)
            }
        }

        @Test(arguments: ["I420_10LE", "NV12", "BGRA"])
        func convertersOnBothSidesLeaveFramesUnchanged(format: String) async throws {
            try await withTemporaryDirectory { directory in
                let pictures = try await RawPictures(
                    format, width: 320, height: 240, frames: 2, in: directory)
                let out = directory.file("out.raw")
                let ended = try await GstBridge.run(
                    capture: "\(pictures.capture) ! videoconvert",
                    outputs: ["videoconvert ! filesink location=\(out)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try bytes(of: out) == pictures.bytes)
            }
        }

        @Test func surroundSoundFileKeepsFramesSamplesAndTimestamps() async throws {
            try await withTemporaryDirectory { directory in
                let film = directory.file("film.mkv")
                try await Tool.check("gst-launch-1.0", Self.surroundFilm(film))
                let copy = directory.file("copy.mkv")
                let ended = try await GstBridge.run(
                    capture: """
                        filesrc location=\(film) ! decodebin name=film
                        film. ! queue ! videoconvert ! video/x-raw,format=I420 ! appsink name=video
                        film. ! queue ! audioconvert ! appsink name=audio
                        """,
                    outputs: [
                        """
                        appsrc name=video ! queue ! videoconvert ! x264enc speed-preset=ultrafast \
                        ! h264parse ! queue ! mux.
                        appsrc name=audio ! queue ! audioconvert ! flacenc ! queue ! mux.
                        matroskamux name=mux ! filesink location=\(copy)
                        """
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                let before = try await MediaProbe(of: film)
                let after = try await MediaProbe(of: copy)
                #expect(before.audio?.channels == 6)
                #expect(after.audio?.channels == 6)
                #expect(after.audio?.sampleRate == 48000)
                #expect(after.video?.frames == 60)
                let report = try ended.report
                #expect(report.captures["video"]?.frames == 60)
                #expect(report.captures.values.map(\.dropped) == [0, 0])
                // Lossless audio: identical samples in all six channels.
                let sound = try await Self.hashOfSound(film)
                #expect(try await Self.hashOfSound(copy) == sound)
                #expect(try await MediaProbe.audioSamples(of: copy) == 96000)
                let times = try await MediaProbe.videoTimes(of: film)
                let newTimes = try await MediaProbe.videoTimes(of: copy)
                #expect(times.count == newTimes.count)
                #expect(zip(times, newTimes).allSatisfy { abs($0 - $1) <= 0.001 })
                let start = try await Self.firstSoundTime(film)
                #expect(abs(try await Self.firstSoundTime(copy) - start) <= 0.001)
            }
        }

        private static func surroundFilm(_ path: String) -> [String] {
            let text =
                "-q videotestsrc num-buffers=60 pattern=ball ! "
                + "video/x-raw,width=320,height=240,framerate=30/1 ! x264enc speed-preset=ultrafast ! "
                + "h264parse ! queue ! mux. audiotestsrc wave=white-noise num-buffers=60 "
                + "samplesperbuffer=1600 ! audio/x-raw,rate=48000,channels=6,"
                + "channel-mask=(bitmask)0x3f ! flacenc ! queue ! mux. "
                + "matroskamux name=mux ! filesink location=\(path)"
            return text.split(separator: " ").map(String.init)
        }

        private static func hashOfSound(_ path: String) async throws -> String {
            try await Tool.check(
                "ffmpeg",
                ["-v", "error", "-i", path, "-map", "0:a:0", "-c:a", "pcm_s32le", "-f", "md5", "-"])
        }

        private static func firstSoundTime(_ path: String) async throws -> Double {
            let text = try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "a:0", "-show_entries", "packet=pts_time",
                    "-of",
                    "csv=p=0", "-read_intervals", "%+#1", path,
                ])
            let line = try #require(text.split(whereSeparator: { ",\n".contains($0) }).first)
            return try #require(Double(line))
        }
    }
}
