import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge dev` with a package that copies a library: a build takes a minute.
    @Suite(
        .hangGuard,
        .enabled(if: !Sanitizer.isActive, "a library with a sanitizer needs a program with it"))
    struct DevTests {
        /// Writes a package whose element is `blur`. Every version but those with `error` is built, and one with `trap`
        /// ends the program that loads it.
        ///
        /// - Returns: The folder.
        private func package(in directory: TemporaryDirectory) throws -> String {
            let folder = directory.file("blur")
            for new in ["\(folder)/Sources/blur", "\(folder)/.build/release"] {
                try FileManager.default.createDirectory(
                    atPath: new, withIntermediateDirectories: true)
            }
            try #"products: [.library(name: "gstmediabridge", type: .dynamic)]"#
                .write(toFile: "\(folder)/Package.swift", atomically: true, encoding: .utf8)
            try """
            all:
            \t@if grep -q error Sources/blur/*.swift; then echo "Blur.swift:1:1: error: no"; exit 1; fi
            \t@if grep -q trap Sources/blur/*.swift; then cc -shared -o .build/release/libgstmediabridge.so trap.c; \
            else cp \(try Tool.built("libgstmediabridge.so")) .build/release/; fi
            """.write(toFile: "\(folder)/Makefile", atomically: true, encoding: .utf8)
            try "__attribute__((constructor)) static void trap(void) { __builtin_trap(); }"
                .write(toFile: "\(folder)/trap.c", atomically: true, encoding: .utf8)
            return folder
        }

        private func save(_ text: String, in folder: String) throws {
            try "final class Blur: VideoProcessor, MediaElement {} // \(text)".write(
                toFile: "\(folder)/Sources/blur/Blur.swift", atomically: true, encoding: .utf8)
        }

        @Test func savedVersionTakesOverDuringARecording() async throws {
            try await withTemporaryDirectory { directory in
                let folder = try package(in: directory)
                try save("first", in: folder)
                let film = directory.file("film.mkv")
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "dev", folder, "--record", film, "--capture",
                        "videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! "
                            + "blur radius=2 ! identity",
                    ], environment: ["DISPLAY": ""]
                ) { child in
                    try await child.waitForErrors(to: "record") { $0.contains("recording \(film)") }
                    try save("second", in: folder)
                    try await child.waitForErrors(to: "take version 2") {
                        $0.contains("version 2\n")
                    }
                    try save("error", in: folder)
                    try await child.waitForErrors(to: "report the error") {
                        $0.contains("Blur.swift:1:1: error: no") && $0.contains("version 2 goes on")
                    }
                    try save("third", in: folder)
                    try await child.waitForErrors(to: "take version 3") {
                        $0.contains("version 3\n")
                    }
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                // One file with every frame once, except frames that a busy machine has dropped and counted.
                let times = try await MediaProbe.videoTimes(of: film)
                #expect(times.count > 3)
                var missing = 0
                for (time, next) in zip(times, times.dropFirst()) {
                    let steps = ((next - time) * 30).rounded()
                    #expect(steps >= 1 && abs(next - time - steps / 30) < 0.002, "\(times)")
                    missing += Int(steps) - 1
                }
                let dropped = ended.errors.matches(of: /([0-9]+) dropped/)
                    .reduce(0) { $0 + (Int($1.1) ?? 0) }
                #expect(missing <= dropped, "\(times) \(ended.errors)")
                #expect(!FileManager.default.fileExists(atPath: directory.file("film-2.mkv")))
            }
        }

        @Test func killedWorkerRestartsWithThePreviousVersion() async throws {
            try await withTemporaryDirectory { directory in
                let folder = try package(in: directory)
                try save("first", in: folder)
                let socket = directory.file("control")
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "dev", folder, "--record", directory.file("film.mkv"), "--control", socket,
                        "--capture",
                        "videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! blur",
                    ], environment: ["DISPLAY": ""]
                ) { child in
                    try await child.waitForErrors(to: "record") { $0.contains("film.mkv") }
                    try save("second", in: folder)
                    try await child.waitForErrors(to: "take version 2") {
                        $0.contains("version 2\n")
                    }
                    try await Tool.check("pkill", ["-KILL", "-f", "gst-bridge record .*\(socket)"])
                    try await child.waitForErrors(to: "start again") {
                        $0.contains("version 2 was ended by") && $0.contains("film-2.mkv")
                    }
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                for file in ["film.mkv", "film-2.mkv"] {
                    try await Tool.check(
                        "ffmpeg",
                        ["-v", "error", "-xerror", "-i", directory.file(file), "-f", "null", "-"])
                }
            }
        }

        @Test func versionThatTrapsOnLoadIsNotRetried() async throws {
            try await withTemporaryDirectory { directory in
                let folder = try package(in: directory)
                try save("first", in: folder)
                let ended = try await withChildProcess(
                    Tool.gstBridge,
                    [
                        "dev", folder, "--record", directory.file("film.mkv"), "--capture",
                        "videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! blur",
                    ], environment: ["DISPLAY": ""]
                ) { child in
                    try await child.waitForErrors(to: "record") { $0.contains("film.mkv") }
                    try save("trap", in: folder)
                    try await child.waitForErrors(to: "start again") {
                        $0.contains("version 1 runs again") && $0.contains("film-2.mkv")
                    }
                    try save("third", in: folder)
                    try await child.waitForErrors(to: "take version 3") {
                        $0.contains("version 3\n")
                    }
                    return try await child.stop()
                }
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("version 2 was ended by"), "\(ended.errors)")
                #expect(!FileManager.default.fileExists(atPath: directory.file("film-3.mkv")))
            }
        }

        @Test func singleFileGetsAPackageWithValidTargets() async throws {
            try await withTemporaryDirectory { directory in
                let bin = directory.file("bin")
                try FileManager.default.createDirectory(
                    atPath: bin, withIntermediateDirectories: true)
                try "#!/bin/sh\nexit 1\n".write(
                    toFile: "\(bin)/make", atomically: true, encoding: .utf8)
                chmod("\(bin)/make", 0o755)
                let file = directory.file("Example.swift")
                try "final class Blur: VideoProcessor, MediaElement {}".write(
                    toFile: file, atomically: true, encoding: .utf8)
                let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
                _ = try await withChildProcess(
                    Tool.gstBridge, ["dev", file],
                    environment: ["XDG_CACHE_HOME": directory.path, "PATH": "\(bin):\(path)"]
                ) { child in
                    try await child.waitForErrors(to: "build") { $0.contains("does not compile") }
                    return try await child.stop()
                }
                let packages = directory.file("gst-bridge-dev")
                let package = try #require(
                    FileManager.default.contentsOfDirectory(atPath: packages).first)
                let manifest = try String(
                    contentsOfFile: "\(packages)/\(package)/Package.swift", encoding: .utf8)
                let targets = manifest.matches(of: /\.(target|testTarget)\(\s*name: "(\w+)"/)
                #expect(targets.map(\.2) == ["blur"])
                #expect(
                    try FileManager.default.contentsOfDirectory(
                        atPath: "\(packages)/\(package)/Sources/blur"
                    ).sorted() == ["Blur.swift", "Plugin.swift"])
            }
        }

        @Test func pathWithoutAnElementIsRefused() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("Empty.swift")
                try "struct Empty {}".write(toFile: file, atomically: true, encoding: .utf8)
                for (path, text) in [
                    (directory.file("none"), "no file or folder"),
                    (directory.path, "gst-bridge new"),
                    (file, "no class that conforms to MediaElement"),
                ] {
                    let ended = try await GstBridge.run(["dev", path])
                    #expect(ended.status == 1 && ended.errors.contains(text), "\(ended.errors)")
                }
            }
        }
    }
}
