import Foundation
import TestSupport
import Testing

/// `gst-bridge new`.
@Suite(.hangGuard)
struct NewPackageTests {
    private func new(_ arguments: String, in directory: TemporaryDirectory) async throws
        -> ChildProcess.Result
    {
        try await Tool.run(
            "sh",
            ["-c", "cd '\(directory.path)' && '\(Tool.built("gst-bridge"))' new \(arguments)"])
    }

    /// Compiles the modules of a package without linking: to build one takes a minute.
    private func compile(_ folder: String, _ modules: [String]) async throws {
        let products = (try Tool.built("gst-bridge") as NSString).deletingLastPathComponent
        let headers = try await Tool.check(
            "pkg-config",
            [
                "--cflags", "gstreamer-app-1.0", "gstreamer-audio-1.0", "gstreamer-video-1.0",
                "yaml-0.1",
            ])
        let options =
            ["-swift-version", "6", "-parse-as-library", "-enable-testing"]
            + ["-I", folder, "-I", "\(products)/Modules"]
            + ["CMediaBridge", "CSandbox", "CYAML"].flatMap {
                ["-Xcc", "-fmodule-map-file=\(Self.sources)/\($0)/module.modulemap"]
            }
            + headers.split(separator: " ").filter { !$0.isEmpty && !$0.contains("pthread") }
            .flatMap { ["-Xcc", $0.trimmingCharacters(in: .whitespacesAndNewlines)] }
        for module in modules {
            let path = module.hasSuffix("Tests") ? "Tests/\(module)" : "Sources/\(module)"
            let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(path)")
            try await Tool.check(
                "swiftc",
                options + [
                    "-module-name", module, "-emit-module", "-o", "\(folder)/\(module).swiftmodule",
                ]
                    + files.map { "\(folder)/\(path)/\($0)" })
        }
    }

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources").standardized.path()

    @Test(arguments: ["filter", "source", "sink", "sound"])
    func elementPackageCompiles(kind: String) async throws {
        try await withTemporaryDirectory { directory in
            let result = try await new("--\(kind) example", in: directory)
            #expect(result.status == 0, "\(result.errors)")
            try await check(
                directory.file("example"), ["example", "exampleTests"], "MediaBridgeElements")
        }
    }

    @Test func filterChangeInTheArticleCompiles() async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await new("brighten", in: directory).status == 0)
            let article = try Repository.text(
                "Sources/MediaBridgeElements/MediaBridgeElements.docc/FirstFilter.md")
            let body = try #require(article.firstMatch(of: /```swift\n([\s\S]*?)```/)).1
            let path = directory.file("brighten/Sources/brighten/Brighten.swift")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let end = try #require(text.range(of: "    let brightness")).lowerBound
            try "\(text[..<end])\(body)}\n".write(
                toFile: path, atomically: true, encoding: .utf8)
            try await compile(directory.file("brighten"), ["brighten", "brightenTests"])
        }
    }

    @Test func programPackageCompiles() async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await new("--program example", in: directory).status == 0)
            try await check(
                directory.file("example"), ["Filters", "example", "FiltersTests"], "MediaBridge")
        }
    }

    private func check(_ folder: String, _ modules: [String], _ product: String) async throws {
        try await compile(folder, modules)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
        for file in ["Package.swift", "Makefile", "README.md", ".gitignore"] {
            #expect(files.contains(file), "\(files)")
        }
        for file in files where !file.hasPrefix(modules[0] + ".") {
            let text = try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            #expect(text?.contains(/%[A-Z]+%/) != true, "\(file): \(text ?? "")")
        }
        let manifest = try await Tool.check(
            "swift", ["package", "--package-path", folder, "dump-package"])
        #expect(manifest.contains("\"\(product)\""))
    }

    @Test func invalidPackageNameIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            for (arguments, text) in [
                ("identity", "coreelements"), ("My-Filter", "lower-case letters"),
                ("example --sources /nowhere", "--sources"),
            ] {
                let result = try await new(arguments, in: directory)
                #expect(result.status != 0)
                #expect(result.errors.contains(text), "\(result.errors)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
            #expect(try await new("example", in: directory).status == 0)
            let again = try await new("example", in: directory)
            #expect(again.status == 1 && again.errors.contains("exists already"), "\(again.errors)")
        }
    }
}
