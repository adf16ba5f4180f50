import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Damaged files, full disks, streams that change: everything that can be saved is saved.
    @Suite(.hangGuard) struct DamageTests {
        @Test func textFileWithAMovieExtensionIsAnError() async throws {
            try await withTemporaryDirectory { directory in
                let film = try directory.write("Once upon a time.\n", to: "film.mp4")
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(film) ! decodebin ! videoconvert",
                    outputs: ["fakesink"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("decodebin"))
                #expect(ended.errors.contains("text") || ended.errors.contains("type of stream"))
                expectOneParagraph(ended)
            }
        }

        @Test func fileCutBeforeItsIndexHasNoStreams() async throws {
            try await withTemporaryDirectory { directory in
                let film = try await Clip().make(at: directory.file("film.mp4"))
                try Self.cut(film)
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(film) ! decodebin ! videoconvert",
                    outputs: ["fakesink"])
                #expect(ended.status == 1)
                // About once in a hundred runs decodebin drops the error, in gst-launch-1.0 too.
                let isDropped = ended.errors.contains("all of its threads have paused")
                let isReported = ended.errors.contains("no playable streams")
                #expect(isDropped || isReported, "\(ended.errors)")
                if !isDropped { expectOneParagraph(ended) }
            }
        }

        @Test func bytesWithoutCapsAreAnError() async throws {
            try await withTemporaryDirectory { directory in
                let bytes = try directory.write("any bytes at all\n", to: "any")
                for output in [
                    "x264enc ! fakesink", "videoconvert ! fakesink", "wavenc ! fakesink",
                ] {
                    let ended = try await GstBridge.run(
                        capture: "filesrc location=\(bytes)", outputs: [output])
                    #expect(ended.status == 1)
                    #expect(ended.errors.contains("bytes without caps"), "\(ended.errors)")
                    expectOneParagraph(ended)
                }
            }
        }

        /// gst-launch-1.0 waits forever.
        @Test func deadlockedCaptureIsAnError() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=5 ! valve drop=true drop-mode=drop-all",
                outputs: ["fakesink"])
            #expect(ended.status == 1)
            let reported = ended.errors
            #expect(reported.contains("nothing has moved for 10.0 seconds"), "\(reported)")
            #expect(reported.contains("all of its threads have paused"), "\(reported)")
        }

        @Test func pausedCaptureContinues() async throws {
            // Twelve seconds without a buffer.
            let ended = try await GstBridge.run(
                capture:
                    "videotestsrc num-buffers=3 ! video/x-raw,framerate=1/6 ! identity sync=true",
                outputs: ["fakesink sync=false"])
            #expect(ended.status == 0, "\(ended.errors)")
        }

        /// GStreamer takes the end of such a file for the end of the stream and reports nothing.
        @Test func truncatedFileWithAnIndexYieldsEveryRemainingFrame() async throws {
            try await withTemporaryDirectory { directory in
                let whole = try await Clip().make(at: directory.file("whole.mp4"))
                let film = directory.file("film.mp4")
                try await Tool.check(
                    "ffmpeg",
                    ["-v", "error", "-i", whole, "-c", "copy", "-movflags", "faststart", film])
                try Self.cut(film)
                let copy = directory.file("copy.mkv")
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(film) ! qtdemux ! h264parse ! avdec_h264",
                    outputs: ["x264enc ! matroskamux ! filesink location=\(copy)"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("cut off"))
                let report = try ended.report
                #expect((1..<60).contains(report.capture.frames))
                #expect(try await MediaProbe(of: copy).video?.frames == report.capture.frames)
            }
        }

        @Test(.enabled(if: !Sanitizer.isActive, "a sanitizer needs larger files itself"))
        func fileAtASizeLimitPlaysItsWrittenFrames() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("out.mkv")
                let result = try await Tool.run(
                    "bash",
                    ["-c", "ulimit -f 100; exec \"$@\"", "bash", try Tool.gstBridge]
                        + Self.recording(to: file))
                try await Self.expectCutShort(Ended(result), file, naming: "File too large")
            }
        }

        @Test(.enabled("needs the right to mount") { try await canMount() })
        func fileOnAFullDiskPlaysItsWrittenFrames() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("out.mkv")
                let disk = directory.file("disk")
                try FileManager.default.createDirectory(
                    atPath: disk, withIntermediateDirectories: false)
                // The disk disappears with the shell's mount namespace.
                let script = """
                    mount -t tmpfs -o size=100k none \(disk) && "$@"; status=$?
                    cp \(disk)/out.mkv \(file); exit $status
                    """
                let result = try await Tool.run(
                    "unshare",
                    ["--mount", "bash", "-c", script, "bash", try Tool.gstBridge]
                        + Self.recording(to: disk + "/out.mkv"))
                try await Self.expectCutShort(Ended(result), file, naming: "No space left")
            }
        }

        @Test(.enabled("needs the right to mount") { try await canMount() })
        func readOnlyDiskIsReported() async throws {
            try await withTemporaryDirectory { directory in
                let script = "mount -t tmpfs -o ro none \(directory.path) && exec \"$@\""
                let result = try await Tool.run(
                    "unshare",
                    ["--mount", "bash", "-c", script, "bash", try Tool.gstBridge]
                        + Self.recording(to: directory.file("out.mkv")))
                let ended = Ended(result)
                #expect(ended.status == 1)
                #expect(ended.errors.contains("Read-only file system"), "\(ended.errors)")
                #expect(ended.errors.contains(directory.file("out.mkv")))
                expectOneParagraph(ended)
            }
        }

        @Test func fullDeviceIsReported() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=30", outputs: ["filesink location=/dev/full"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("No space left"))
            #expect(ended.errors.contains("/dev/full"), "\(ended.errors)")
            #expect(ended.errors.contains("free space"))
            expectOneParagraph(ended)
        }

        @Test func aCaptureThatFailsLeavesACompleteFile() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("out.mp4")
                let ended = try await GstBridge.run(
                    capture: "videotestsrc num-buffers=60 ! identity error-after=31",
                    outputs: ["videoconvert ! x264enc ! mp4mux ! filesink location=\(file)"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("identity0"))
                #expect(try ended.report.only.frames == 30)
                #expect(try await MediaProbe(of: file).video?.frames == 30)
                expectOneParagraph(ended)
            }
        }

        /// The end of the stream can arrive at any point, so the test repeats ten times.
        @Test func aCaptureWithoutAFrameEnds() async throws {
            for _ in 0..<10 {
                let ended = try await GstBridge.run(
                    capture: "videotestsrc num-buffers=0", outputs: ["fakesink"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("without a single frame"))
            }
        }

        @Test func emptyStreamDoesNotBlockOtherStreams() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("out.mkv")
                let ended = try await GstBridge.run(
                    capture: """
                        videotestsrc num-buffers=30 ! appsink name=video
                        audiotestsrc num-buffers=0 ! appsink name=audio
                        """,
                    outputs: [
                        """
                        appsrc name=video ! x264enc ! queue ! mux.
                        appsrc name=audio ! audioconvert ! flacenc ! queue ! mux.
                        matroskamux name=mux ! filesink location=\(file)
                        """
                    ])
                // The video stream is complete, and the error names the stream that delivered
                // nothing.
                #expect(ended.status == 1)
                #expect(ended.errors.contains("\"audio\""), "\(ended.errors)")
                let report = try ended.report
                #expect(report.captures["audio"]?.frames == 0)
                #expect(report.captures["video"]?.frames == 30)
                #expect(try await MediaProbe(of: file).video?.frames == 30)
            }
        }

        @Test func changingStreamIsWrittenByteForByte() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("out.raw")
                let ended = try await GstBridge.run(
                    capture: Self.changing, outputs: ["filesink location=\(file)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.only.frames == 40)
                #expect(try bytes(of: file).count == 20 * (320 * 240 + 160 * 128) * 3 / 2)
            }
        }

        @Test(arguments: ["out.mp4", "out.mkv"])
        func changingStreamIsRecordedToTheLastFrame(name: String) async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file(name)
                let muxer = name == "out.mp4" ? "mp4mux" : "matroskamux"
                let ended = try await GstBridge.run(
                    capture: Self.changing,
                    outputs: ["videoconvert ! x264enc ! \(muxer) ! filesink location=\(file)"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.only.frames == 40)
                let video = try await MediaProbe(of: file).video
                #expect(video?.frames == 40)
                #expect(video?.width == 320)
            }
        }

        // MARK: Inside

        private static let changing = """
            concat name=c ! appsink
            videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! c.
            videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=160,height=128,framerate=30/1 ! c.
            """

        private static func recording(to file: String) -> [String] {
            [
                "run", "--capture",
                "videotestsrc num-buffers=300 ! video/x-raw,format=I420,width=320,height=240",
                "--output",
                "x264enc speed-preset=ultrafast key-int-max=1 ! h264parse ! matroskamux "
                    + "! filesink location=\(file) buffer-mode=2", "--report", "json",
            ]
        }

        /// Expects an error, and a file of about 100 kB that contains whole frames.
        private static func expectCutShort(
            _ ended: Ended, _ file: String, naming reason: String
        ) async throws {
            #expect(ended.status == 1)
            #expect(ended.errors.contains(reason), "\(ended.errors)")
            #expect(ended.errors.contains("out.mkv"), "\(ended.errors)")
            #expect(try ended.report.ended == "error")
            expectOneParagraph(ended)
            #expect(try bytes(of: file).count > 90_000)
            // The last frame may be truncated, which ffprobe may report.
            let count = try await Tool.check(
                "ffprobe",
                [
                    "-v", "quiet", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
                    "csv=p=0", file,
                ])
            let frames = Int(count.trimmingCharacters(in: [",", "\n", " "])) ?? 0
            #expect(frames >= 3 && frames < 300)
        }

        private static func cut(_ path: String) throws {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: path))
        }

        private static func canMount() async throws -> Bool {
            try await Tool.run(
                "unshare", ["--mount", "bash", "-c", "mount -t tmpfs none /tmp"]
            ).status == 0
        }
    }
}
