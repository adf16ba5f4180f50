import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge ctl` and the elements of a run.
    @Suite(.hangGuard) struct PropertyRequestTests {
        private struct Answer: Decodable {
            struct Property: Decodable {
                var element, name, type: String
                var value, values: String?
                var settable: Bool?
            }
            var ok: Bool
            var error: String?
            var properties: [Property]?
        }

        private static let capture =
            "videotestsrc is-live=true ! video/x-raw,format=I420,width=32,height=32,framerate=50/1 ! "
            + "textoverlay name=o ! videobalance"

        /// Runs a command with `--control` in parallel with `body`, which sends requests.
        private func control(
            _ arguments: [String],
            _ body: (_ ask: ([String]) async throws -> Ended) async throws -> Void
        ) async throws {
            try await withTemporaryDirectory { directory in
                let socket = directory.file("socket")
                let arguments = arguments.map { $0.replacing("DIR", with: directory.path) }
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    arguments + ["--control", socket, "--progress", "always", "--report", "none"],
                    environment: ["DISPLAY": ""]
                ) { child in
                    try await child.waitForErrors(to: "count frames") {
                        InterruptionTests.framesSoFar($0) > 0
                    }
                    try await body { try await GstBridge.run(["ctl", socket] + $0) }
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(!FileManager.default.fileExists(atPath: socket))
            }
        }

        @Test func setPrintsPropertyAndValueAndGetOnlyTheValue() async throws {
            try await control(["run", "--capture", Self.capture, "--output", "fakesink"]) { ask in
                let set = try await ask(["set", "o.text", "hello  world"])
                #expect(set.status == 0 && set.output == "video/o.text=hello  world\n")
                #expect(try await ask(["get", "o.text"]).output == "hello  world\n")
                #expect(try await ask(["set", "videobalance.hue", "-0.5"]).status == 0)
                #expect(try await ask(["get", "videobalance"]).output.contains("\nhue=-0.5\n"))
                let listed = try await ask(["properties", "videobalance"]).output
                #expect(listed.contains(".hue=-0.5  (double; numbers from -1 to 1; default 0)"))
                let json = try await ask(["get", "videotestsrc.pattern", "--json"])
                let answer = try JSONDecoder().decode(Answer.self, from: Data(json.output.utf8))
                #expect(answer.ok && answer.properties?.map(\.value) == ["smpte"])
                #expect(answer.properties?[0].values?.contains("snow") == true)
            }
        }

        @Test func failedRequestStatesItsCauseAndExits1() async throws {
            try await control(["run", "--capture", Self.capture, "--output", "fakesink"]) { ask in
                for (request, words) in [
                    (["set", "videobalance.hue", "1.5"], "numbers from -1 to 1"),
                    (["set", "videobalance.heu", "1"], "Try: hue"),
                    (["set", "o.text"], "incomplete"),
                    (["get", "overlay.text"], "no element is named"), (["get"], "incomplete"),
                    (["get", "o.text", "more"], "too long"),
                ] {
                    let ended = try await ask(request)
                    #expect(ended.status == 1 && ended.output.isEmpty, "\(request)")
                    #expect(ended.errors.contains(words), "\(ended.errors)")
                    let json = try await ask(request + ["--json"])
                    let answer = try JSONDecoder().decode(Answer.self, from: Data(json.output.utf8))
                    #expect(json.status == 1 && !answer.ok && answer.error?.contains(words) == true)
                }
                let start = try await ask(["start"])
                #expect(start.status == 1 && start.output.contains("unknown request"))
            }
        }

        @Test func recordingAcceptsPropertyRequests() async throws {
            try await control(["record", "--capture", Self.capture, "DIR/out.mkv"]) {
                ask async throws in
                #expect(try await ask(["set", "o.text", "two"]).output == "video/o.text=two\n")
                #expect(try await ask(["status"]).output.contains("\"state\":\"recording\""))
                #expect(try await ask(["begin"]).output.contains("status, set, get, properties"))
            }
        }

        @Test func untrustedPipelinesGetNoSocketAndNoPlugins() async throws {
            for option in [["--control", "/tmp/socket"], ["--plugins", "/tmp"]] {
                let ended = try await GstBridge.run(
                    [
                        "run", "--capture", "videotestsrc", "--output", "fakesink", "--untrusted",
                        "/tmp",
                    ]
                        + option)
                #expect(ended.status == 64 && ended.errors.contains("--untrusted"))
            }
        }
    }
}
