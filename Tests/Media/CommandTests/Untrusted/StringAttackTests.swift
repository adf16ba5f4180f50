import Foundation
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// Strings that GStreamer splits unexpectedly, and names with terminal escape sequences.
    @Suite(
        .hangGuard,
        .enabled(if: Sandbox.kernelVersion != nil, "this kernel has no Landlock"),
        .disabled(if: Sanitizer.isActive, "sanitizers look into processes: the sandbox forbids it"))
    struct StringAttackTests {
        static let numbered = [
            // printf conversions: characters, memory, writes, other arguments, other numbers.
            "BOX/.%1$c..%1$cout%1$ca", "BOX/%s", "BOX/%n", "BOX/%05d%n", "BOX/%d%d", "BOX/%%%d",
            "BOX/%*d", "BOX/%1$d", "BOX/%ld", "BOX/%c", "BOX/%x", "BOX/%", "BOX/%100000000d",
            "BOX/%05", "BOX/%.5d", "BOX/%+d", "BOX/%d/a", "BOX/sub%d/a", "BOX/%m", "BOX/%-5d",
        ]

        @Test(arguments: numbered, ["multifilesink", "multifilesrc", "imagesequencesrc"])
        func numberedFileNameAllowsOnlyOneNumberPlaceholder(
            location: String, element: String
        ) async throws {
            try await withTemporaryDirectory { directory in
                let path = location.replacing("BOX", with: directory.path)
                let policy = try UntrustedPolicy(directory: directory.path)
                #expect(throws: PipelineError.self) {
                    if element == "multifilesink" {
                        var configuration = PipelineVideoSink.Configuration()
                        configuration.untrusted = policy
                        _ = try PipelineVideoSink(
                            "\(element) index=47 location=\"\(path)\"", configuration: configuration
                        )
                    } else {
                        var configuration = PipelineVideoSource.Configuration()
                        configuration.untrusted = policy
                        _ = try PipelineVideoSource(
                            "\(element) location=\"\(path)\"", configuration: configuration)
                    }
                }
            }
        }

        @Test(arguments: ["%d.raw", "f%05d.raw", "%3d", "plain.raw", "sub/%02d-x"])
        func plainNumberPlaceholderIsAccepted(name: String) async throws {
            try await withBox { box in
                let ended = try await box.run(
                    capture: Attack.picture, outputs: ["multifilesink location=\"BOX/\(name)\""])
                #expect(ended.status == 0, "\(ended.errors)")
            }
        }

        @Test func linkAmongNumberedFilesIsNotFollowed() async throws {
            try await withBox { box in
                let before = try box.outside
                for name in ["f00003.raw", "f3.raw", "f-1.raw"] {
                    try FileManager.default.createSymbolicLink(
                        atPath: "\(box.path)/\(name)", withDestinationPath: box.out + "/secret")
                    for (capture, output) in [
                        (Attack.picture, "multifilesink next-file=4 location=BOX/f%05d.raw"),
                        (
                            "multifilesrc location=BOX/f%05d.raw ! "
                                + "rawvideoparse width=8 height=8", "fakesink"
                        ),
                    ] {
                        let ended = try await box.run(capture: capture, outputs: [output])
                        #expect(ended.status == 1)
                        #expect(ended.errors.contains("is a link"), "\(ended.errors)")
                        #expect(!ended.output.contains(Box.secret))
                    }
                    try FileManager.default.removeItem(atPath: "\(box.path)/\(name)")
                }
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        /// The words are refused before any element exists: the error names a factory, but no
        /// element.
        @Test(
            arguments: [
                "fakesrc!shmsink", "videotestsrc!udpsink", "a.!shmsink", "fakesrc ! (shmsink)",
                "(((shmsink", "shmsink.(", "shmsink .  (", "fakesrc :shmsink",
                "fakesrc name=a !shmsink",
                "fakesrc !video/x-raw,a=!shmsink", "shmsink\u{b}", "fakesrc !\u{c}shmsink",
                "t.shmsink shmsink", "}shmsink", ";shmsink", ",shmsink", "[shmsink", "é shmsink",
            ])
        func forbiddenElementsAreNeverCreated(text: String) async throws {
            try await withTemporaryDirectory { directory in
                var configuration = PipelineVideoSource.Configuration()
                configuration.untrusted = try UntrustedPolicy(directory: directory.path)
                let error = #expect(throws: PipelineError.self) {
                    try PipelineVideoSource(text, configuration: configuration)
                }
                #expect(error?.code == .refused, "\(text): \(String(describing: error))")
                #expect(error?.element == nil, "\(text): it was made")
            }
        }

        @Test(
            arguments: [
                "fakesrc ! file:///etc/passwd", "fakesrc!file:///etc/passwd", "x://", "/etc/passwd",
                "x264enc @preset=mine", "x264enc @preset = mine ! fakesink",
            ])
        func implicitElementsAndPresetsAreRefused(text: String) async throws {
            try await withTemporaryDirectory { directory in
                var configuration = PipelineVideoSink.Configuration()
                configuration.untrusted = try UntrustedPolicy(directory: directory.path)
                let error = #expect(throws: PipelineError.self) {
                    try PipelineVideoSink(text, configuration: configuration)
                }
                #expect(error?.code == .refused, "\(text): \(String(describing: error))")
            }
        }

        /// An element names its own file after itself, and its name may look like a path out of the
        /// directory.
        @Test func elementNameCannotEscapeTheDirectory() async throws {
            try await withBox { box in
                let before = try box.outside
                let ended = try await box.run(
                    capture: Attack.picture,
                    outputs: ["x264enc pass=pass1 name=\"x/../../out/a\" ! fakesink"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        @Test func namesCannotControlTheTerminal() async throws {
            try await withBox { box in
                let file = "\(box.out)/theirs.yaml"
                // A window title, a colour, a clear screen, an 8-bit command, a change of writing
                // direction.
                let name = "\\e]0;mine\\a\\e[31m\\e[2J\\x9b5n\\u202Ex"
                try """
                capture: videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48
                outputs:
                  "\(name)": fakesink
                """.write(toFile: file, atomically: false, encoding: .utf8)
                for mode in ["text", "json"] {
                    for more in [[], ["--set", "no=1"], ["--output", "nosuchelement"]] {
                        let ended = try await GstBridge.run(
                            ["run", file, "--untrusted", box.path, "--report", mode] + more)
                        let said = (ended.output + ended.errors).unicodeScalars
                        #expect(
                            !said.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" },
                            "\(mode) \(more)")
                        #expect(!said.contains { (0x7f..<0xa0).contains($0.value) })
                    }
                }
                let ended = try await GstBridge.run(["run", file, "--untrusted", box.path])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect((ended.output + ended.errors).contains("\\u{1b}]0;mine\\u{7}"))
            }
        }
    }
}
