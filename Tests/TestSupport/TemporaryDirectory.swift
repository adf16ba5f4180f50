public import Foundation

/// A private directory of a test; it is removed after the test.
public struct TemporaryDirectory: Sendable {
    public let path: String

    /// An existing directory, which is not removed.
    public init(existing path: String) { self.path = path }

    /// The path of a file in it.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The bytes of a file in it.
    public func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: file(name)))
    }

    /// Writes a text file in it.
    ///
    /// - Returns: Its path.
    public func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: false, encoding: .utf8)
        return file(name)
    }

    /// The sorted names of its entries.
    public var contents: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}

/// Runs `body` with a new, empty directory, and removes the directory afterwards, even if `body`
/// throws.
public func withTemporaryDirectory<R>(
    _ body: (TemporaryDirectory) async throws -> R
) async throws -> R {
    var template = Array("\(NSTemporaryDirectory())/mediabridge-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
    let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(TemporaryDirectory(existing: path))
}
