import ArgumentParser
import Foundation

/// A file with a secret.
enum SecretFile {
    /// Returns its text, without the white space around it.
    static func read(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 4096 else {
            throw ValidationError("\(path) cannot be read, or is longer than 4096 bytes")
        }
        let text = String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw ValidationError("\(path) is empty") }
        return text
    }
}
