import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge doctor`.
    @Suite(.hangGuard) struct DoctorTests {
        private struct Answer: Decodable {
            struct Check: Decodable {
                var name: String
                var verdict: String
                var detail: String
                var advice: String?
            }
            var ok: Bool
            var checks: [Check]
        }

        private static let good = """
            about: a good file
            variables:
              file: {meaning: where to write}
            capture: |
              videotestsrc num-buffers=3
            outputs:
              raw: |
                queue
                ! filesink location=${file}
            """

        @Test func reportsInstalledAndMissingParts() async throws {
            let ended = try await GstBridge.run(["doctor"])
            #expect(ended.status == 0)
            #expect(ended.errors.isEmpty)
            #expect(ended.output.contains("GStreamer 1."))
            #expect(ended.output.contains("(appsink)"))
            #expect(ended.output.contains("missing  display: DISPLAY is not set"))
        }

        @Test func jsonReportIsOneObject() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(Self.good, to: "good.yaml")
                let ended = try await GstBridge.run(["doctor", "--json", file])
                #expect(ended.status == 0)
                let answer = try JSONDecoder().decode(Answer.self, from: Data(ended.output.utf8))
                #expect(answer.ok)
                let check = try #require(answer.checks.first { $0.name == file })
                #expect(check.verdict == "ok")
                #expect(check.detail == "a good file")
            }
        }

        /// With addresses (`whep:`, `whip:`), which are not connected.
        @Test func everySuppliedPipelineFilePassesTheCheck() async throws {
            let folder = Repository.path("pipelines")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0.hasSuffix(".yaml") }.map { "\(folder)/\($0)" }
            let ended = try await GstBridge.run(["doctor", "--json"] + files)
            #expect(ended.status == 0, "\(ended.errors)")
            let answer = try JSONDecoder().decode(Answer.self, from: Data(ended.output.utf8))
            #expect(files.count > 10)
            #expect(
                answer.checks.filter { $0.verdict == "ok" && $0.name.hasPrefix(folder) }.count
                    == files.count)
            #expect(ended.status == 0, "\(ended.output)")
        }

        @Test func stringsBesideAnAddressAreChecked() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(
                    "capture: \"whep:https://media.example/whep\"\n"
                        + "outputs:\n  window: appsrc name=video ! nosuchconvert ! fakesink\n",
                    to: "bad.yaml")
                let ended = try await GstBridge.run(["doctor", file])
                #expect(ended.status == 1)
                #expect(ended.output.contains("nosuchconvert"), "\(ended.output)")
            }
        }

        @Test(
            arguments: [
                ("wrong-key: 1\n" + good, 1, "wrong-key"),
                (good.replacing("queue", with: "nosuchqueue"), 8, "nosuchqueue"),
                (good.replacing("! filesink", with: "! filesink foo=1"), 9, "foo"),
                (good.replacing("videotestsrc", with: "videotestsrc ! ! "), 5, "syntax"),
                (good.replacing("${file}", with: "${fiel}"), 9, "fiel"),
                (good + "\nfilters: [nosuchfilter]\n", 10, "nosuchfilter"),
                ("about: [", 2, "not YAML"),
                ("", 1, "empty"),
            ])
        func brokenFileIsReportedWithItsLine(text: String, line: Int, word: String) async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write(text, to: "bad.yaml")
                let good = try directory.write(Self.good, to: "good.yaml")
                let ended = try await GstBridge.run(["doctor", good, file])
                #expect(ended.status == 1)
                let broken = ended.output.split(separator: "\n").filter { $0.hasPrefix("BROKEN") }
                #expect(broken.count == 1)
                #expect(broken.first?.contains("\(file):\(line):") == true, "\(ended.output)")
                #expect(broken.first?.contains(word) == true, "\(ended.output)")
                let json = try await GstBridge.run(["doctor", "--json", file])
                #expect(json.status == 1)
                let answer = try JSONDecoder().decode(Answer.self, from: Data(json.output.utf8))
                #expect(!answer.ok)
                #expect(answer.checks.filter { $0.verdict == "broken" }.map(\.name) == [file])
            }
        }

        @Test func missingElementIsReportedWithItsDebianPackage() async throws {
            try await withTemporaryDirectory { directory in
                let plugins = try await Self.fewPlugins(in: directory)
                let file = try directory.write(
                    Self.good.replacing("queue", with: "x264enc ! queue"), to: "bad.yaml")
                let doctor = try await GstBridge.run(["doctor", file], environment: plugins)
                #expect(doctor.status == 1)
                #expect(doctor.output.contains("x264enc"))
                #expect(doctor.output.contains("apt install gstreamer1.0-plugins-ugly"))
                let run = try await GstBridge.run(
                    ["run", file, "--set", "file=\(directory.file("out"))"], environment: plugins)
                #expect(run.status == 1)
                #expect(run.errors.contains("no element \"x264enc\""))
                #expect(run.errors.contains("apt install gstreamer1.0-plugins-ugly"))
            }
        }

        /// A GStreamer installation with almost no plug-ins.
        private static func fewPlugins(
            in directory: TemporaryDirectory
        ) async throws -> [String: String] {
            let all = try await Tool.check(
                "pkg-config", ["--variable=pluginsdir", "gstreamer-1.0"]
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            for name in ["libgstcoreelements.so", "libgstapp.so", "libgstvideotestsrc.so"] {
                try FileManager.default.createSymbolicLink(
                    atPath: directory.file(name), withDestinationPath: "\(all)/\(name)")
            }
            return [
                "GST_PLUGIN_SYSTEM_PATH_1_0": directory.path,
                "GST_REGISTRY_1_0": directory.file("registry"),
            ]
        }
    }
}
