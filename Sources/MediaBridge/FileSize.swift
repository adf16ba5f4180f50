internal import Glibc

enum FileSize {
    /// Returns the size of a regular file in bytes; `nil` if there is none at that path, or if it
    /// is something else, such as a pipe.
    static func of(_ path: String) -> Int? {
        var status = stat()
        let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return isFile ? Int(status.st_size) : nil
    }

    /// A problem with a file that should have been written.
    enum Problem: String {
        case gone = "is not there"
        case empty = "is empty"
    }

    /// Checks a file that should have been written.
    ///
    /// - Returns: `nil` for a file that is not empty, and for anything that is not a regular file,
    ///   such as a pipe or a device.
    static func missing(_ path: String) -> Problem? {
        var status = stat()
        guard stat(path, &status) == 0 else { return .gone }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 ? .empty : nil
    }
}
