internal import Glibc

enum FileSize {
    /// Bytes in the file; `nil` where there is none, or something else of that name.
    static func of(_ path: String) -> Int? {
        var status = stat()
        let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return isFile ? Int(status.st_size) : nil
    }
}
