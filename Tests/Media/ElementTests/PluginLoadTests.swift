import Foundation
import TestSupport
import Testing

/// `--plugins` and the key `plugins` of pipeline files.
@Suite(
    .hangGuard,
    .enabled(if: !Sanitizer.isActive, "a library with a sanitizer needs a program with it"))
struct PluginLoadTests {
    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> ChildProcess.Result {
        try await Tool.run(
            Tool.gstBridge, arguments,
            environment: ["DISPLAY": ""].merging(environment) { $1 })
    }

    private static let strings = [
        "--capture", "videotestsrc num-buffers=3 ! blur radius=3", "--output", "fakesink",
    ]

    @Test func stringsUseTheElementsOfAPluginDirectory() async throws {
        try await withTemporaryDirectory { directory in
            let plugin = try PluginDirectory(directory)
            let plugins = plugin.path
            for environment in [[:], plugin.environment] {
                let options = environment.isEmpty ? ["--plugins", plugins] : []
                let ended = try await run(
                    ["run"] + Self.strings + options, environment: environment)
                #expect(ended.status == 0, "\(ended.errors)")
            }
            let recorded = try await run(
                ["record"] + Self.strings.prefix(2) + [
                    directory.file("out.mkv"), "--plugins", plugins,
                ])
            #expect(recorded.status == 0, "\(recorded.errors)")
            let file = try directory.write(
                "plugins: [\(plugins)]\ncapture: videotestsrc num-buffers=3 ! blur radius=3\n"
                    + "outputs:\n  none: fakesink\n", to: "blur.yaml")
            #expect(try await run(["run", file]).status == 0)
            let doctor = try await run(["doctor", file, "--plugins", plugins])
            #expect(
                doctor.status == 0
                    && doctor.output.contains("plugins in \(plugins): ball, blur, gain"))
            let refused = try await run(["run", file, "--untrusted", directory.path])
            #expect(refused.status == 1, "\(refused.output)")
        }
    }

    @Test func missingAndUnloadablePluginsAreErrors() async throws {
        try await withTemporaryDirectory { directory in
            func complaint(_ path: String) async throws -> String {
                let ended = try await run(["run"] + Self.strings + ["--plugins", path])
                #expect(ended.status == 1)
                let doctor = try await run(["doctor", "--plugins", path])
                #expect(doctor.status == 1 && doctor.output.contains("BROKEN   plugins in \(path)"))
                return ended.errors
            }
            #expect(
                try await complaint(directory.file("none")).contains("No such file or directory"))
            #expect(try await complaint(directory.path).contains("no file is named libgst*.so"))
            _ = try directory.write("text", to: "libgstblur.so")
            let broken = try await complaint(directory.path)
            #expect(
                broken.contains("file too short") && broken.contains("gst_plugin_blur_get_desc"))
            #expect(broken.split(separator: "\n").count == 1, "\(broken)")
        }
    }
}
