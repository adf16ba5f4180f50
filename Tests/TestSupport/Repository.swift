import Foundation

/// The files of this package, from which the tests were built.
public enum Repository {
    public static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    public static func path(_ relative: String) -> String { "\(root)/\(relative)" }

    public static func text(_ relative: String) throws -> String {
        try String(contentsOfFile: path(relative), encoding: .utf8)
    }

    public static func exists(_ relative: String) -> Bool {
        FileManager.default.fileExists(atPath: path(relative))
    }
}
