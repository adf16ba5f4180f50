internal import Glibc

enum FileSize {
    /// Bytes in the file; `nil` where there is none, or something else of that name.
    static func of(_ path: String) -> Int? {
        var status = stat()
        let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return isFile ? Int(status.st_size) : nil
    }

    /// What is wrong with a file that was written.
    enum Problem: String {
        case gone = "is not there"
        case empty = "is empty"
    }

    /// - Returns: `nil` for a file with something in it, and for what is no file: a pipe, a device.
    static func missing(_ path: String) -> Problem? {
        var status = stat()
        guard stat(path, &status) == 0 else { return .gone }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 ? .empty : nil
    }
}
