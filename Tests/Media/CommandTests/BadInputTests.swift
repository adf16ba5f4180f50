import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Bad input ends the command with its exit status and a one-paragraph error, never with a
    /// crash.
    @Suite(.hangGuard) struct BadInputTests {
        @Test(arguments: BadInput.strings)
        func pipelineErrorIsOneParagraph(input: BadInput) async throws {
            let ended = try await GstBridge.run(input.arguments)
            #expect(ended.status == input.status, "\(ended.errors)")
            for word in input.words { #expect(ended.errors.contains(word), "\(ended.errors)") }
            expectOneParagraph(ended)
        }

        @Test(arguments: BadInput.usages)
        func wrongUsageExits64(input: BadInput) async throws {
            let ended = try await GstBridge.run(input.arguments)
            #expect(ended.status == input.status)
            for word in input.words { #expect(ended.errors.contains(word), "\(ended.errors)") }
            #expect(ended.errors.contains("Usage: gst-bridge"))
            #expect(ended.output.isEmpty)
        }

        /// A missing audio device is only a warning, as in gst-launch-1.0; a missing display is an
        /// error.
        @Test(
            .enabled("a machine with a sound card plays") {
                !FileManager.default.fileExists(atPath: "/dev/snd")
            })
        func missingAudioDeviceIsAWarning() async throws {
            let ended = try await GstBridge.run(
                capture: "audiotestsrc num-buffers=5", outputs: ["audioconvert ! autoaudiosink"])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(
                ended.errors.contains("warning: no working audio device, so no audio is played"))
            #expect(try ended.report.outputs["output"]?.frames == 5)
        }

        @Test func unwritableFileSystemIsNotReportedAsFull() async throws {
            let ended = try await GstBridge.run([
                "record", "--capture", "videotestsrc num-buffers=5", "/proc/one.mkv",
            ])
            #expect(ended.status == 1)
            #expect(
                ended.errors.contains(
                    "cannot write \"/proc/one.mkv\": No such file or directory"))
        }

        @Test func audioRecordingReportsNoFrameCount() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("sound.mkv")
                let ended = try await GstBridge.run([
                    "record", "--capture", "audiotestsrc num-buffers=20", path,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("\(path): 0.46 s"), "\(ended.errors)")
            }
        }

        @Test(arguments: ["a\nb", "a\tb", "a\u{1}b", "a\u{7f}b"])
        func refusesControlCharactersInANameBeforeAnythingIsCreated(name: String) async throws {
            try await withTemporaryDirectory { directory in
                let recording = try await Clip().make(at: directory.file("in.mkv"))
                let before = directory.contents
                let file = directory.file(name)
                let capture = ["--capture", "videotestsrc num-buffers=5"]
                for arguments in [
                    ["record"] + capture + ["\(file).mkv"],
                    ["record"] + capture + ["\(file).mp4", "--segment", "1s"],
                    ["snapshot"] + capture + ["\(file).png"],
                    ["clip", recording, "\(file).webm"],
                ] {
                    let ended = try await GstBridge.run(arguments)
                    #expect(ended.status == 1 && ended.errors.contains("control characters"))
                    expectOneParagraph(ended)
                    #expect(directory.contents == before, "\(arguments)")
                }
            }
        }

        @Test func noArgumentsShowTheHelp() async throws {
            let ended = try await GstBridge.run([])
            #expect(ended.status == 0)
            #expect(ended.output.contains("USAGE: gst-bridge"))
        }

        @Test func duplicateOutputNamesAreRefused() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run(
                    capture: "videotestsrc num-buffers=3",
                    outputs: ["a=filesink location=\(directory.file("out"))", "a=fakesink"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("two outputs are named \"a\""), "\(ended.errors)")
                expectOneParagraph(ended)
                #expect(directory.contents.isEmpty)
            }
        }

        @Test(
            arguments: [
                ("/no/such/film.mp4", "/no/such/film.mp4"), ("/", "/"),
                ("/proc/1/mem", "/proc/1/mem"),
            ])
        func errorNamesAnUnreadableFile(path: String, word: String) async throws {
            try await withTemporaryDirectory { directory in
                let out = directory.file("out.raw")
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! decodebin ! videoconvert",
                    outputs: ["filesink location=\(out)"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains(word), "\(ended.errors)")
                expectOneParagraph(ended)
            }
        }

        @Test func missingInputKeepsTheExistingOutput() async throws {
            try await withTemporaryDirectory { directory in
                let precious = try directory.write("precious", to: "out.raw")
                let ended = try await GstBridge.run(
                    capture: "filesrc location=/no/such/film.mp4 ! decodebin ! videoconvert",
                    outputs: ["filesink location=\(precious)"])
                #expect(ended.status == 1)
                #expect(try bytes(of: precious) == Array("precious".utf8))
            }
        }

        @Test(
            arguments: [
                "/tmp", "/proc/version/out.raw", "/proc/nosuchfile", "/no/such/directory/out.raw",
                "/sys/out.raw",
            ])
        func errorNamesAnUnwritableOutput(path: String) async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=30", outputs: ["filesink location=\(path)"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("\"\(path)\""), "\(ended.errors)")
            #expect(try ended.report.ended == "error")
            expectOneParagraph(ended)
        }

        @Test(
            arguments: [
                ("wrong-key: 1\ncapture: videotestsrc", 1, ["wrong-key", "capture"]),
                ("capture: videotestsrc\noutputs:\n  a: |\n    queue\n    ! nosuch", 5, ["nosuch"]),
                ("capture: videotestsrc\noutputs: fakesink", 2, ["outputs"]),
                ("capture: videotestsrc\noutputs:\n  a: ${nosuch}", 3, ["nosuch", "variables"]),
                (
                    "variables:\n  dir: {meaning: where}\ncapture: videotestsrc\noutputs:\n"
                        + "  a: filesink location=${dir}/a", 5, ["dir", "--set dir=VALUE"]
                ),
                ("capture: [", 2, ["not YAML"]),
                ("\tcapture: videotestsrc", 1, ["not YAML"]),
                ("capture: videotestsrc\ncapture: videotestsrc", 2, ["duplicate key \"capture\""]),
            ])
        func errorNamesThePipelineFileAndItsLine(
            yaml: String, line: Int, words: [String]
        ) async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(yaml, to: "test.yaml")
                let ended = try await GstBridge.run(["run", file])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("\(file):\(line):"), "\(ended.errors)")
                for word in words { #expect(ended.errors.contains(word), "\(ended.errors)") }
                expectOneParagraph(ended)
            }
        }

        @Test(
            arguments: [
                ("/no/such/file.yaml", "No such file"), ("/tmp", "directory"),
                ("/dev/null", "empty"),
            ])
        func errorNamesAnUnreadablePipelineFile(path: String, reason: String) async throws {
            let ended = try await GstBridge.run(["run", path])
            #expect(ended.status == 1)
            #expect(ended.errors.contains(path))
            #expect(ended.errors.contains(reason), "\(ended.errors)")
            expectOneParagraph(ended)
        }

        @Test(
            arguments: [
                "a\" ! filesink location=\"EVIL", "a\\\" ! filesink location=EVIL", "a\nfilesink",
            ])
        func aVariableCannotAddElements(value: String) async throws {
            try await withTemporaryDirectory { directory in
                let evil = directory.file("evil.raw")
                let file = try directory.write(
                    """
                    variables:
                      file: {meaning: where to write}
                    capture: videotestsrc num-buffers=3
                    outputs:
                      a: |
                        filesink location="\(directory.path)/${file}"
                    """, to: "test.yaml")
                let value = value.replacing("EVIL", with: evil)
                let ended = try await GstBridge.run(
                    ["run", file, "--set", "file=\(value)"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("${file}"), "\(ended.errors)")
                expectOneParagraph(ended)
                #expect(directory.contents == ["test.yaml"])
            }
        }

        @Test func errorNamesAnUndeclaredVariable() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    "variables:\n  file: {default: a}\ncapture: videotestsrc", to: "test.yaml")
                let ended = try await GstBridge.run(
                    ["run", file, "--set", "fiel=b"])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("\"fiel\""))
                #expect(ended.errors.contains("one of: file"))
                expectOneParagraph(ended)
            }
        }
    }
}

/// An error message is one line, which the terminal wraps.
func expectOneParagraph(
    _ ended: Ended, sourceLocation: SourceLocation = #_sourceLocation
) {
    // GStreamer 1.26 logs a failed assertion before the error.
    let lines = ended.errors
        .replacing(/\n\(gst-bridge:\d+\): GStreamer-\w+-CRITICAL .*\n/, with: "")
        .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 2 && lines.last == "", "\(ended.errors)", sourceLocation: sourceLocation)
    #expect(lines.first?.hasPrefix("gst-bridge: ") == true, sourceLocation: sourceLocation)
    #expect(lines.first?.hasSuffix(".") == true, sourceLocation: sourceLocation)
}
