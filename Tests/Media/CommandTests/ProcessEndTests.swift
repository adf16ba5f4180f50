import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// The process frees its pipelines before it exits: libraries crash if they are torn down while
    /// a pipeline is in use.
    @Suite(.hangGuard) struct ProcessEndTests {
        /// The number of pipelines that were freed before the process exited, from GStreamer's log.
        private func freed(_ arguments: [String]) async throws -> (Int, Ended) {
            let ended = try await GstBridge.run(
                arguments,
                environment: ["GST_DEBUG": "GST_REFCOUNTING:4", "GST_DEBUG_NO_COLOR": "1"])
            let names = ended.errors.split(separator: "\n").filter {
                $0.contains("<pipeline") && $0.hasSuffix("finalize parent")
            }
            return (names.count, ended)
        }

        private static let capture = ["--capture", "videotestsrc num-buffers=2"]

        @Test(arguments: 1...3) func pipelinesAreFreedBeforeExit(outputs: Int) async throws {
            let (freed, ended) = try await freed(
                ["run"] + Self.capture
                    + (0..<outputs).flatMap { _ in ["--output", "videoconvert ! fakesink"] })
            #expect(ended.status == 0)
            #expect(freed == 1 + outputs)
        }

        @Test func pipelinesAreFreedBeforeAFailureExit() async throws {
            let (freed, ended) = try await freed(
                ["run"] + Self.capture + ["--output", "identity error-after=1 ! fakesink"])
            #expect(ended.status == 1)
            #expect(freed == 2)
        }

        @Test func pipelinesOfAnInvalidBridgeAreFreedBeforeExit() async throws {
            let (freed, ended) = try await freed(
                ["run"] + Self.capture + ["--output", "fakesink", "--output", "nosuchelement"])
            #expect(ended.status == 1)
            #expect(freed >= 2)
        }

        @Test func snapshotFreesItsPipelinesBeforeExit() async throws {
            try await withTemporaryDirectory { directory in
                let (freed, ended) = try await freed(
                    ["snapshot"] + Self.capture + [directory.file("picture.png")])
                #expect(ended.status == 0)
                // The capture pipeline, and the pipeline that writes the picture.
                #expect(freed == 2)
            }
        }
    }
}
