import TestSupport
import Testing

extension CommandTests {
    /// Standard output carries pictures, or the report for scripts, and nothing else.
    @Suite(.hangGuard) struct StandardOutputTests {
        private static let picture =
            "videotestsrc num-buffers=2 pattern=black ! video/x-raw,format=GRAY8,width=8,height=4"

        @Test(arguments: ["fdsink", "fdsink fd=1", "filesink location=/dev/stdout"])
        func standardOutputCarriesOnlyFrames(output: String) async throws {
            let ended = try await GstBridge.run([
                "run", "--capture", Self.picture, "--output", output,
            ])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.utf8.count == 64)
            #expect(ended.errors.contains("output output: 2 frames"))
        }

        @Test(
            arguments: ["fdsink", "queue ! fdsink fd=1", "filesink location=/dev/stdout"])
        func jsonReportBesideVideoOnStandardOutputIsRefused(output: String) async throws {
            let ended = try await GstBridge.run(
                capture: Self.picture, outputs: ["pictures=\(output)"])
            #expect(ended.status == 64)
            #expect(ended.output.isEmpty)
            for word in ["--report json", "\"pictures\"", "--report text"] {
                #expect(ended.errors.contains(word), "\(ended.errors)")
            }
        }

        @Test(arguments: ["fdsink fd=2", "filesink location=/dev/null", "fakesink"])
        func standardOutputCarriesOnlyTheReport(output: String) async throws {
            let ended = try await GstBridge.run(capture: Self.picture, outputs: [output])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try ended.report.only.frames == 2)
            #expect(ended.output.split(separator: "\n").count == 1)
        }

        @Test(arguments: ["audiotestsrc num-buffers=3", "audiotestsrc num-buffers=3 ! decodebin"])
        func audioIsReportedAsAudio(capture: String) async throws {
            let ended = try await GstBridge.run(capture: capture, outputs: ["fakesink"])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try ended.report.captures.keys.sorted() == ["audio"])
        }

        @Test(arguments: [
            "appsrc ! fakesink", "appsrc name=video ! fakesink", "audioconvert ! fakesink",
        ])
        func outputTakesTheOnlyStream(output: String) async throws {
            let ended = try await GstBridge.run(
                capture: "audiotestsrc num-buffers=3", outputs: [output])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try ended.report.only.frames == 3)
        }
    }
}
