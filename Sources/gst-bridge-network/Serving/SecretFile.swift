import Foundation
import MediaBridge

/// A file with a secret.
enum SecretFile {
    /// Returns its text, without the white space around it.
    static func read(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw PipelineError(
                .notFound, message: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        let data = try file.read(upToCount: 4097) ?? Data()
        guard data.count <= 4096 else {
            throw PipelineError(.badFile, message: "\(path) is longer than 4096 bytes")
        }
        let text = String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw PipelineError(.badFile, message: "\(path) is empty") }
        return text
    }
}
