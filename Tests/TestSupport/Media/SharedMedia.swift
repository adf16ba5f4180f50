import Foundation
internal import Synchronization

/// Files that are created once per process and shared by several tests.
public enum SharedMedia {
    private static let files = Mutex<[String: Task<String, any Error>]>([:])
    private static let directory: String = {
        let path = NSTemporaryDirectory() + "mediabridge-shared-\(getpid())"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: SharedMedia.directory) }
        return path
    }()

    /// The path of a file; the first caller creates it.
    ///
    /// - Parameter make: Writes the file to the given path.
    public static func file(
        _ name: String, make: @escaping @Sendable (String) async throws -> Void
    ) async throws -> String {
        let path = directory + "/" + name
        return try await files.withLock { files in
            if let task = files[name] { return task }
            let task = Task {
                try await make(path)
                return path
            }
            files[name] = task
            return task
        }.value
    }
}
