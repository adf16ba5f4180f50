internal import FoundationEssentials
internal import Glibc
internal import MediaBridge

/// A package with elements: one that `gst-bridge new` wrote, or one around a single file.
struct ElementPackage: Sendable {
    /// What an element is in a pipeline.
    enum Kind: Sendable {
        case video, audio, source

        /// The default capture, which a source is itself.
        var defaultCapture: String {
            switch self {
            case .video: "videotestsrc is-live=true"
            case .audio: "audiotestsrc is-live=true"
            case .source: ""
            }
        }
        /// What makes any format one that the element takes.
        var converter: String { self == .audio ? "audioconvert" : "videoconvert" }
        var defaultOutput: String { self == .audio ? "autoaudiosink" : "autovideosink" }
    }

    let folder: URL
    /// The name of the library `libgst<library>.so`.
    let library: String
    /// The names of its elements.
    let elements: [String]
    let kind: Kind
    /// The file that the package is around; `nil` for any other package.
    private let file: String?

    /// The Swift files whose changes are built.
    var files: [String] { Self.files(file, in: folder) }

    private static func files(_ file: String?, in folder: URL) -> [String] {
        if let file { return [file] }
        let sources = folder.appending(path: "Sources").path(percentEncoded: false)
        return ((try? FileManager.default.subpathsOfDirectory(atPath: sources)) ?? [])
            .filter { $0.hasSuffix(".swift") }.map { "\(sources)/\($0)" }
    }

    /// - Parameters:
    ///   - path: A folder with a `Package.swift`, or a Swift file.
    ///   - sources: The folder of MediaBridge's sources; `nil` to look for it.
    init(at path: String, sources: String?) throws {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw PipelineError(.notFound, message: "no file or folder \(path)")
        }
        let place = URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath()
        file = isFolder ? nil : place.path(percentEncoded: false)
        folder = isFolder ? place : try Self.wrap(place, sources: sources)
        let manifest = try? String(
            contentsOf: folder.appending(path: "Package.swift"), encoding: .utf8)
        guard let product = manifest?.firstMatch(of: /name: "gst([a-z][a-z0-9]*)"/) else {
            throw PipelineError(
                .badFile, message: "\(path) has no Package.swift with a library gst<name>",
                advice: "gst-bridge new writes one")
        }
        library = String(product.1)
        let codes = Self.files(file, in: folder).compactMap {
            try? String(contentsOfFile: $0, encoding: .utf8)
        }
        elements = codes.flatMap { Self.elements(in: $0) }
        let code = codes.joined()
        kind =
            code.contains(/:[^{]*AudioProcessor/)
            ? .audio : code.contains(/:[^{]*(Video|Audio)Source\b/) ? .source : .video
        guard !elements.isEmpty else { throw Self.nothing(in: path) }
    }

    /// Returns the names of the elements whose classes are in a file.
    private static func elements(in code: String) -> [String] {
        let stated = code.matches(of: /elementName\s*(:\s*String\s*)?=\s*"([^"]+)"/).map {
            String($0.2)
        }
        let classes = code.matches(of: Self.declaration).map { $0.1.lowercased() }
        return stated.count == classes.count ? stated : classes
    }

    /// A class that is an element.
    private static var declaration: Regex<(Substring, Substring)> {
        /class\s+(\w+)\s*:[^{]*\bMediaElement\b/
    }

    private static func nothing(in path: String) -> PipelineError {
        PipelineError(
            .badFile, message: "\(path) has no class that conforms to MediaElement",
            advice: "gst-bridge new writes a package with one")
    }

    /// Writes a package around a file with one class. It is found again, with what was built, at the next time.
    private static func wrap(_ file: URL, sources: String?) throws -> URL {
        let code = try String(contentsOf: file, encoding: .utf8)
        guard let type = code.firstMatch(of: declaration).map({ String($0.1) }) else {
            throw nothing(in: file.lastPathComponent)
        }
        let name = type.lowercased()
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        let cache = variable("XDG_CACHE_HOME") ?? (variable("HOME") ?? "/tmp") + "/.cache"
        let place = file.path(percentEncoded: false).utf8.reduce(UInt64(5381)) {
            $0 &* 33 &+ UInt64($1)
        }
        let folder = URL(filePath: "\(cache)/gst-bridge-dev/\(name)-\(String(place, radix: 36))")
        try PackageTemplate.element.write(
            to: folder, name: name, type: type,
            line: "", mediaBridge: PackageTemplate.folderOfMediaBridge(sources), hasTests: false)
        let link = folder.appending(path: "Sources/\(name)/\(type).swift")
        try? FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        return folder
    }
}
