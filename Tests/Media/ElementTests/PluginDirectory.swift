import Foundation
import TestSupport

/// GStreamer's own programs, with the sample plugin of this package.
struct PluginDirectory {
    private let directory: TemporaryDirectory

    /// Makes a directory with the plugin and nothing else.
    init(_ directory: TemporaryDirectory) throws {
        self.directory = directory
        try FileManager.default.createDirectory(
            atPath: directory.file("plugins"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("plugins/libgstmediabridge.so"),
            withDestinationPath: Tool.built("libgstmediabridge.so"))
    }

    var path: String { directory.file("plugins") }

    var environment: [String: String] {
        [
            "GST_PLUGIN_PATH": path,
            "GST_REGISTRY": directory.file("registry.bin"),
        ]
    }

    func launch(_ text: String, environment more: [String: String] = [:]) async throws
        -> ChildProcess.Result
    {
        try await Tool.run(
            "gst-launch-1.0", ["-q"] + text.split(separator: " ").map(String.init),
            environment: environment.merging(more) { $1 })
    }

    func inspect(_ element: String) async throws -> String {
        try await Tool.check("gst-inspect-1.0", ["--no-colors", element], environment: environment)
    }
}
