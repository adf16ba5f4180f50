import Foundation
import TestSupport
import Testing

/// Versions of a plugin that replace each other while a pipeline runs.
@Suite(
    .hangGuard,
    .enabled(if: !Sanitizer.isActive, "a library with a sanitizer needs a program with it"))
struct ReloadTests {
    /// Runs a pipeline with a filter, and calls `body` with the arguments of `ctl` and a maker of versions.
    ///
    /// - Parameter ends: Whether the pipeline ends by itself.
    private func run(
        _ capture: String, output: String, in directory: TemporaryDirectory, ends: Bool,
        _ body: (_ ctl: [String], _ version: () throws -> String) async throws -> Void
    ) async throws -> ChildProcess.Result {
        let library = try Tool.built("libgstmediabridge.so")
        var count = 0
        func version() throws -> String {
            count += 1
            let folder = directory.file("version-\(count)")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: library, toPath: "\(folder)/libgstmediabridge.so")
            return "\(folder)/libgstmediabridge.so"
        }
        let socket = directory.file("control")
        let first = (try version() as NSString).deletingLastPathComponent
        return try await withChildProcess(
            Tool.built("gst-bridge"),
            ["run", "--plugins", first, "--control", socket, "--capture", capture]
                + ["--output", output]
        ) { program in
            try await body(["ctl", socket], version)
            return try await ends ? program.end() : program.stop()
        }
    }

    private static let pictures =
        "pattern=ball ! video/x-raw,format=I420,width=64,height=48,framerate=30/1"

    @Test func reloadKeepsFramesAndPropertyValues() async throws {
        try await withTemporaryDirectory { directory in
            let (changed, whole) = (directory.file("changed.raw"), directory.file("whole.raw"))
            var reloads = 0
            let result = try await run(
                "videotestsrc num-buffers=900 \(Self.pictures) ! identity sleep-time=2000 ! "
                    + "blur name=soft radius=2", output: "filesink location=\(changed)",
                in: directory, ends: true
            ) { ctl, version in
                // Until the pipeline ends, when the socket closes.
                while true {
                    let reload = try await Tool.run(
                        Tool.built("gst-bridge"), ctl + ["reload", version()])
                    if reload.status == 0 {
                        reloads += 1
                        #expect(reload.output.contains("soft.radius=2"), "\(reload.output)")
                    } else if reloads > 0 {
                        break
                    }
                }
            }
            #expect(result.status == 0, "\(result.errors)")
            #expect(reloads > 1)
            let plain = try await PluginDirectory(directory).launch(
                "videotestsrc num-buffers=900 \(Self.pictures) ! blur radius=2 ! filesink location=\(whole)"
            )
            #expect(plain.status == 0, "\(plain.errors)")
            #expect(
                try Data(contentsOf: URL(filePath: changed))
                    == Data(contentsOf: URL(filePath: whole)))
        }
    }

    @Test func invalidVersionIsRefusedAndTheFilterContinues() async throws {
        try await withTemporaryDirectory { directory in
            let text = directory.file("libgstmediabridge.so")
            try "not a library".write(toFile: text, atomically: true, encoding: .utf8)
            let result = try await run(
                "videotestsrc is-live=true \(Self.pictures) ! blur", output: "fakesink",
                in: directory, ends: false
            ) { ctl, version in
                for (file, message) in [
                    (text, "file too short"), (directory.file("none.so"), "No such file"),
                ] {
                    var answer: ChildProcess.Result
                    // The socket exists once the pipeline does.
                    repeat {
                        answer = try await Tool.run(
                            Tool.built("gst-bridge"), ctl + ["reload", file])
                    } while answer.errors.contains("cannot connect")
                    #expect(answer.status == 1)
                    #expect(answer.errors.contains(message), "\(answer.errors)")
                }
            }
            #expect(result.status == 0, "\(result.errors)")
        }
    }
}
