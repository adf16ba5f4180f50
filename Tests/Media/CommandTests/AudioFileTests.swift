import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Recordings that contain only audio, checked with ffprobe and ffmpeg, and recordings on standard output.
    @Suite(.hangGuard) struct AudioFileTests {
        private static let noise =
            "audiotestsrc wave=white-noise num-buffers=100 samplesperbuffer=441 ! "
            + "audio/x-raw,format=S16LE,rate=44100,channels=2"

        private func probe(_ path: String, _ entries: String) async throws -> [String] {
            try await Tool.check(
                "ffprobe", ["-v", "error", "-show_entries", entries, "-of", "csv=p=0", path]
            ).split(whereSeparator: { $0.isNewline || $0 == "," }).map(String.init)
        }

        /// The number of decoded samples of each channel.
        private func samples(of path: String, in directory: TemporaryDirectory) async throws -> Int
        {
            let raw = directory.file("decoded.raw")
            try await Tool.check(
                "ffmpeg", ["-v", "error", "-y", "-i", path, "-f", "s16le", "-ac", "2", raw])
            return try bytes(of: raw).count / 4
        }

        @Test(arguments: [
            ("m4a", "aac", 2048), ("ogg", "opus", 2048), ("flac", "flac", 0),
            ("wav", "pcm_s16le", 0),
        ])
        func fileExtensionSelectsTheAudioFormat(
            ending: String, codec: String, tolerance: Int
        ) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(ending)")
                let ended = try await GstBridge.run([
                    "record", "--report", "json", "--capture", Self.noise, path,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await probe(path, "stream=codec_name") == [codec])
                let length = try #require(
                    try await probe(path, "format=duration").first.flatMap { Double($0) })
                #expect(abs(length - 1) <= Double(tolerance) / 44_100 + 0.000_01)
                if ending != "ogg" {
                    #expect(abs(try await samples(of: path, in: directory) - 44_100) <= tolerance)
                }
                let list = try await GstBridge.run(["inspect", path])
                #expect(list.status == 0, "\(list.output) \(list.errors)")
            }
        }

        @Test(arguments: ["m4a", "ogg", "flac", "wav"])
        func aKilledAudioFilePlays(ending: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(ending)")
                try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "audiotestsrc is-live=true wave=white-noise", path,
                        "--progress", "always",
                    ]
                ) { child in
                    // 1024 samples each: 3.5 s.
                    try await child.waitForErrors(to: "record") {
                        InterruptionTests.framesSoFar($0) > 150
                    }
                    child.send(signal: SIGKILL)
                    _ = try await child.end()
                }
                #expect(try await samples(of: path, in: directory) > 2 * 44_100)
                let repair = try await GstBridge.run(["repair", path])
                #expect(repair.status == (ending == "m4a" ? 0 : 1), "\(repair.errors)")
            }
        }

        @Test(arguments: ["flac", "wav"], ["s16le", "s24le"])
        func losslessFilesKeepEverySample(ending: String, format: String) async throws {
            try await withTemporaryDirectory { directory in
                let raw = directory.file("in.raw")
                let noise = Self.noise.replacing("S16LE", with: format.uppercased())
                try await Tool.check(
                    "gst-launch-1.0",
                    ["-q"]
                        + "\(noise) ! filesink location=\(raw)".split(separator: " ").map(
                            String.init))
                let path = directory.file("out.\(ending)")
                let ended = try await GstBridge.run([
                    "record", "--capture",
                    "filesrc location=\(raw) ! rawaudioparse pcm-format=\(format) sample-rate=44100 num-channels=2",
                    path,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let out = directory.file("out.raw")
                try await Tool.check("ffmpeg", ["-v", "error", "-i", path, "-f", format, out])
                #expect(try bytes(of: out) == bytes(of: raw))
            }
        }

        @Test(arguments: ["m4a", "ogg", "flac", "wav"])
        func audioFileOfAVideoCaptureHasNoVideo(ending: String) async throws {
            try await withTemporaryDirectory { directory in
                var clip = Clip()
                clip.frames = 30
                let film = try await clip.make(at: directory.file("film.mp4"))
                let path = directory.file("out.\(ending)")
                let ended = try await GstBridge.run([
                    "record", "--capture", "filesrc location=\(film) ! decodebin", path,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await probe(path, "stream=codec_type") == ["audio"])
            }
        }

        @Test func eachFLACSegmentStatesItsOwnLength() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run([
                    "record", "--segment", "300ms", "--capture", Self.noise,
                    directory.file("a.flac"),
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let files = directory.contents.filter { $0.hasSuffix(".flac") }.sorted()
                #expect(files.count > 2)
                var total = 0.0
                for file in files {
                    let length = try await probe(directory.file(file), "format=duration").first
                    total += length.flatMap { Double($0) } ?? .nan
                }
                #expect(abs(total - 1) < 0.000_1)
            }
        }

        @Test(arguments: [("mkv", "opus"), ("ts", "aac")])
        func aRecordingOnStandardOutputIsComplete(container: String, codec: String) async throws {
            try await withTemporaryDirectory { directory in
                let out = directory.file("out")
                // The shell connects the recording with another program.
                try await Tool.check(
                    "sh",
                    [
                        "-c",
                        "\"$0\" record --container \(container) --capture \"$1\" - | cat > \"$2\"",
                        Tool.gstBridge,
                        "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=48 ! appsink name=video "
                            + "\(Self.noise) ! appsink name=audio",
                        out,
                    ])
                #expect(
                    try await probe(out, "stream=codec_name").filter { $0 != "\n" }.suffix(2)
                        .sorted().contains(codec))
                let frames = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-count_packets", "-select_streams", "v:0", "-show_entries",
                        "stream=nb_read_packets", "-of", "csv=p=0", out,
                    ])
                #expect(frames.contains("30"), "\(frames)")
            }
        }

        @Test(arguments: [["--report", "json"], ["--segment", "1s"], ["--replay", "1s"]])
        func optionsThatNeedAFileAreRefusedForStandardOutput(options: [String]) async throws {
            let ended = try await GstBridge.run(
                ["record", "--capture", Self.noise] + options + ["-"])
            #expect(ended.status == 64)
        }
    }
}
