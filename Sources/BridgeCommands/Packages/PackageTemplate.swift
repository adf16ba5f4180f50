internal import FoundationEssentials
internal import MediaBridge

/// The files of a new package, as one text: each file is behind a line `--- PATH`.
struct PackageTemplate {
    private let text: String

    private init(_ parts: [UInt8]...) {
        text = parts.map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// A package with an element, without its class.
    static var element: Self { Self(PackageResources.element_txt) }
    static var filter: Self { Self(PackageResources.element_txt, PackageResources.filter_txt) }
    static var source: Self { Self(PackageResources.element_txt, PackageResources.source_txt) }
    static var sink: Self { Self(PackageResources.element_txt, PackageResources.sink_txt) }
    static var sound: Self { Self(PackageResources.element_txt, PackageResources.sound_txt) }
    static var program: Self { Self(PackageResources.program_txt) }

    /// Writes the package.
    ///
    /// - Parameters:
    ///   - folder: Its folder, which is created if there is none.
    ///   - name: The name of the package and of its element.
    ///   - type: The name of the class.
    ///   - line: What gst-launch-1.0 runs to show the element.
    ///   - mediaBridge: The folder of MediaBridge's sources.
    ///   - hasTests: Whether there are tests of an element.
    func write(
        to folder: URL, name: String, type: String, line: String, mediaBridge: URL,
        hasTests: Bool = true
    ) throws {
        var path = mediaBridge.path(percentEncoded: false)
        if path.hasSuffix("/") { path.removeLast() }
        let text = text.replacing("%LINE%", with: line).replacing("%CLASS%", with: type)
            .replacing("%TESTS%", with: hasTests ? Self.tests : "")
            .replacing("%PATH%", with: path)
            .replacing("%PACKAGE%", with: mediaBridge.lastPathComponent)
            .replacing("%NAME%", with: name)
        for file in text.split(separator: "--- ") {
            let parts = file.split(separator: "\n", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let path = folder.appending(path: String(parts[0]))
            // A file with a new time would be built again.
            if let present = try? Data(contentsOf: path), present == Data(parts[1].utf8) {
                continue
            }
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(parts[1].utf8).write(to: path)
        }
    }

    private static let tests =
        "        .testTarget(name: \"%NAME%Tests\", dependencies: [\"%NAME%\"]),\n"

    /// Returns the folder with MediaBridge's `Package.swift`.
    ///
    /// - Parameter stated: The folder that the user states; `nil` to look for it.
    static func folderOfMediaBridge(_ stated: String?) throws(PipelineError) -> URL {
        var candidates: [URL] = []
        if let stated {
            candidates = [URL(filePath: stated)]
        } else {
            // The clone that this program was built in, then the working directory.
            var folder = URL(filePath: #filePath)
            while folder.pathComponents.count > 2 {
                folder.deleteLastPathComponent()
                candidates.append(folder)
            }
            candidates += [URL(filePath: "."), URL(filePath: "MediaBridge")]
        }
        for folder in candidates {
            let manifest = folder.appending(path: "Package.swift")
            if let text = try? String(contentsOf: manifest, encoding: .utf8),
                text.contains("\"MediaBridgeElements\"")
            {
                return folder.resolvingSymlinksInPath()
            }
        }
        throw PipelineError(
            .notFound,
            message: "no sources of MediaBridge\(stated.map { " in \($0)" } ?? "")",
            advice: "--sources with the path of a clone")
    }
}
