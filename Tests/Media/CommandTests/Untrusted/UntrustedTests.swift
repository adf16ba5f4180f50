import Foundation
import MediaBridge
import TestSupport
import Testing

extension CommandTests {
    /// `run --untrusted` refuses forbidden requests with an error message, and they have no effect.
    @Suite(
        .hangGuard,
        .enabled(if: Sandbox.kernelVersion != nil, "this kernel has no Landlock"),
        .disabled(if: Sanitizer.isActive, "sanitizers look into processes: the sandbox forbids it"))
    struct UntrustedTests {
        @Test(arguments: Attack.all)
        func attackWritesNoFileAndOpensNoConnection(attack: Attack) async throws {
            try await withBox { box in
                let before = try box.outside
                let ended = try await box.run(
                    capture: attack.capture, outputs: [attack.output], ["--frames", "5"])
                #expect(ended.status == 1, "\(ended.errors)")
                #expect(ended.errors.contains(attack.reason.rawValue), "\(ended.errors)")
                #expect(ended.errors.hasPrefix("gst-bridge: "), "\(ended.errors)")
                #expect(try box.outside.differences(from: before) == [])
                #expect(!box.listener.wasReached)
                #expect(!ended.output.contains(Box.secret))
                #expect(!ended.errors.contains(Box.secret))
            }
        }

        @Test func attackInAPipelineFileIsRefused() async throws {
            try await withBox { box in
                let before = try box.outside
                let file = "\(box.path)/theirs.yaml"
                try """
                capture: videotestsrc num-buffers=5
                outputs:
                  file: |
                    x264enc ! mp4mux !
                    filesink location=\(box.out)/a.mp4
                """.write(toFile: file, atomically: false, encoding: .utf8)
                let ended = try await GstBridge.run(["run", file, "--untrusted", box.path])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("theirs.yaml:"), "\(ended.errors)")
                #expect(ended.errors.contains(Attack.Reason.path.rawValue), "\(ended.errors)")
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        @Test(arguments: HonestString.all)
        func permittedPipelinesRun(honest: HonestString) async throws {
            try await withBox { box in
                let before = try box.outside
                let ended = try await box.run(
                    capture: honest.capture, outputs: [honest.output])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.ended == "eos")
                for name in honest.files {
                    let size =
                        try FileManager.default.attributesOfItem(atPath: "\(box.path)/\(name)")[
                            .size] as? Int
                    #expect(size ?? 0 > 0, "\(name) is empty")
                }
                #expect(try box.outside.differences(from: before) == [])
            }
        }

        @Test func pipelineFileMayBeOutsideButItsPathsAreInside() async throws {
            try await withBox { box in
                let file = "\(box.out)/ours.yaml"
                try """
                variables:
                  file: {default: a.mkv, meaning: where to}
                capture: videotestsrc num-buffers=12 ! video/x-raw,width=64,height=48
                outputs:
                  file: x264enc ! matroskamux ! filesink location=${file}
                """.write(toFile: file, atomically: false, encoding: .utf8)
                let ended = try await GstBridge.run([
                    "run", file, "--untrusted", box.path, "--set", "file=b.mkv",
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await MediaProbe(of: "\(box.path)/b.mkv").video?.frames == 12)
            }
        }

        @Test func ctrlCStillCompletesTheFile() async throws {
            try await withBox { box in
                let arguments = [
                    "run", "--untrusted", box.path, "--capture",
                    "videotestsrc is-live=true ! video/x-raw,width=64,height=48", "--output",
                    "x264enc tune=zerolatency ! mp4mux ! filesink location=live.mp4", "--progress",
                    "always",
                ]
                try await withChildProcess(Tool.gstBridge, arguments) { child in
                    try await child.waitForErrors(to: "tell of frames") { $0.contains("frames") }
                    child.send(signal: SIGINT)
                    #expect(try await child.end().status == 0)
                }
                #expect(try await MediaProbe(of: "\(box.path)/live.mp4").video != nil)
            }
        }

        @Test(arguments: ["/no/such/directory", "/", "/etc/passwd"])
        func missingDirectoryIsReportedBeforeTheRun(directory: String) async throws {
            let ended = try await GstBridge.run([
                "run", "--untrusted", directory, "--capture", Attack.picture,
            ])
            #expect(ended.status == 1)
            #expect(ended.errors.hasPrefix("gst-bridge: "), "\(ended.errors)")
        }

        @Test func missingStringsAreWrongUsage() async throws {
            #expect(try await GstBridge.run(["run", "--untrusted", "/tmp"]).status == 64)
        }
    }
}
