internal import CMediaBridge
internal import Glibc
internal import MediaBasics

/// Writes what the kernel keeps in memory to the disk, so that it survives a power failure. Blocks.
enum FileFlush {
    /// Flushes a file's data and its size.
    ///
    /// - Parameter onProgress: Called repeatedly: gigabytes may wait in memory, and take minutes.
    static func run(
        _ descriptor: Int32, _ path: String, onProgress: () -> Void = {}
    ) throws(PipelineError) {
        var status = stat()
        fstat(descriptor, &status)
        for start in stride(from: 0, to: status.st_size, by: Self.part) {
            let isDone = sync_file_range(descriptor, start, Self.part, 7) == 0
            // Not all file systems have this call.
            guard isDone || ![EIO, ENOSPC].contains(errno) else { throw failure(path) }
            onProgress()
        }
        guard fdatasync(descriptor) == 0 else { throw failure(path) }
    }

    private static let part = 16_000_000

    /// Flushes a new file's name in its directory, and the names of the directories above, which may
    /// be new too.
    static func entry(of path: String) throws(PipelineError) {
        var directory = path
        repeat {
            directory = DiskSpace.directory(of: directory)
            let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            // A directory that cannot be listed was not created here.
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            // A file system that cannot be written to need not be flushed.
            guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
                throw failure(directory)
            }
        } while directory != "/" && directory != "."
    }

    static func failure(_ path: String) -> PipelineError {
        PipelineError(
            errno == ENOSPC ? .noSpaceLeft : .resourceFailed,
            message: "the disk did not store \"\(path)\": \(systemErrorText())",
            advice: "check the disk; what was written before is kept")
    }
}
