import Foundation
import TestSupport
import Testing

/// A machine on which a plugin with parsers is not installed.
@Suite(.hangGuard) struct MissingParserTests {
    @Test func usesTheNextCodecWhenAParserIsMissing() async throws {
        try await withTemporaryDirectory { directory in
            let plugins = directory.file("plugins")
            try FileManager.default.createDirectory(
                atPath: plugins, withIntermediateDirectories: false)
            let installed = try await Tool.check(
                "pkg-config", ["--variable=pluginsdir", "gstreamer-1.0"]
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            for name in [
                "app", "coreelements", "videotestsrc", "videoconvertscale", "vpx", "x264",
                "matroska",
            ] {
                let file = "libgst\(name).so"
                try FileManager.default.createSymbolicLink(
                    atPath: "\(plugins)/\(file)", withDestinationPath: "\(installed)/\(file)")
            }
            let path = directory.file("out.mkv")
            let run = try await GstBridge.run(
                ["record", "--capture", "videotestsrc num-buffers=5", path],
                environment: [
                    "GST_PLUGIN_SYSTEM_PATH": plugins, "GST_REGISTRY": directory.file("registry"),
                ])
            #expect(run.status == 0, "\(run.errors)")
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.codec == "vp8")
        }
    }
}
