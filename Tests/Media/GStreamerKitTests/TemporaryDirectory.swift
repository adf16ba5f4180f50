import Foundation

/// A directory of one test's own, gone with it.
struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "mediabridge-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}
