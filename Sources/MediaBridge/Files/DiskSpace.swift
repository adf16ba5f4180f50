internal import Glibc
internal import MediaBasics

/// The disk of an existing or future file.
enum DiskSpace {
    /// Returns the number of free bytes for a file in a directory; `nil` if unknown.
    static func free(in directory: String) -> Int? {
        var status = statvfs()
        // File systems without files, such as /proc, have no blocks.
        guard statvfs(directory, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// Throws if no directory or file can be created below a directory, which may not exist yet.
    static func check(below directory: String) throws(PipelineError) {
        var existing = directory
        while access(existing, F_OK) != 0, errno == ENOENT, existing != "/", existing != "." {
            existing = Self.directory(of: existing)
        }
        var status = stat()
        guard stat(existing, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            access(existing, W_OK) == 0
        else {
            throw PipelineError(cannot: "write to the directory \"\(existing)\"")
        }
    }

    /// Throws if a file cannot be written to `path`. Called before the first frame.
    static func check(_ path: String) throws(PipelineError) {
        var status = stat()
        let directory = directory(of: path)
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw PipelineError(
                .notFound,
                message: "cannot write \"\(path)\": directory \"\(directory)\" not found",
                advice: "mkdir -p \(directory)")
        }
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR {
            throw PipelineError(.badValue, message: "\"\(path)\" is a directory")
        }
        guard access(exists ? path : directory, W_OK) == 0 else {
            throw PipelineError(cannot: "write \"\(path)\"")
        }
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
