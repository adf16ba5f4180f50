internal import Glibc

package enum FileSize {
    /// Returns the size of a regular file in bytes; `nil` if there is none at that path, or if it
    /// is something else, such as a pipe.
    package static func of(_ path: String) -> Int? {
        var status = stat()
        let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return isFile ? Int(status.st_size) : nil
    }

    /// Returns when a file was last written, in nanoseconds since 1970; `nil` if there is none.
    static func lastChange(of path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    /// Throws if there is a regular file, which is not to be overwritten.
    package static func requireNone(at path: String) throws(PipelineError) {
        if of(path) != nil { throw .exists(path) }
    }

    /// Throws if the path of a file to be written has line breaks or control characters, which a
    /// pipeline string cannot contain.
    package static func requireUsableName(_ path: String) throws(PipelineError) {
        guard path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            return
        }
        throw PipelineError(
            .badValue,
            message: "a path with line breaks or control characters: \(path.debugDescription)",
            advice: "another name")
    }

    /// Throws if this process reads the file, which is to be overwritten.
    static func requireUnread(_ path: String) throws(PipelineError) {
        var (file, other) = (stat(), stat())
        guard stat(path, &file) == 0, let directory = opendir("/proc/self/fd") else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let descriptor = Int32(name), fstat(descriptor, &other) == 0,
                (file.st_dev, file.st_ino) == (other.st_dev, other.st_ino),
                fcntl(descriptor, F_GETFL) & O_ACCMODE != O_WRONLY
            else { continue }
            throw PipelineError(
                .resourceFailed,
                message: "this process is reading \"\(path)\", which would be overwritten",
                advice: "another name")
        }
    }

    /// A problem with a file that should have been written.
    enum Problem: String {
        case missing = "does not exist"
        case empty = "is empty"
    }

    /// Checks a file that should have been written.
    ///
    /// - Returns: `nil` for a file that is not empty, and for anything that is not a regular file,
    ///   such as a pipe or a device.
    static func missing(_ path: String) -> Problem? {
        var status = stat()
        guard stat(path, &status) == 0 else { return .missing }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 ? .empty : nil
    }
}

extension PipelineError {
    /// The error for a file that is not to be overwritten.
    static func exists(_ path: String) -> PipelineError {
        PipelineError(
            .alreadyExists, message: "\"\(path)\" already exists",
            advice: "another name, or --overwrite or Configuration.whenExists to overwrite it")
    }
}
