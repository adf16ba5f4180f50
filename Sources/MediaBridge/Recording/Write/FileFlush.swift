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

extension FileBytes {
    /// Writes bytes at offsets, one step after the other: each reaches the disk before the next. After
    /// a failure the file gets back its size.
    ///
    /// - Parameters:
    ///   - steps: An offset, and the parts of what is written there.
    ///   - onProgress: Called while the disk takes the file's data.
    /// - Returns: The reason if it fails; else `nil`.
    func change(_ steps: [(place: Int, parts: [[UInt8]])], onProgress: () -> Void) -> String? {
        let target = open(path, O_WRONLY | O_CLOEXEC)
        guard target >= 0 else { return systemErrorText() }
        defer { close(target) }
        for step in steps {
            var place = step.place
            for part in step.parts {
                var done = 0
                while done < part.count {
                    let written = part[done...].prefix(Self.portion).withUnsafeBytes {
                        pwrite(target, $0.baseAddress, $0.count, place)
                    }
                    guard written > 0 else {
                        let reason = systemErrorText()
                        ftruncate(target, count)
                        return reason
                    }
                    done += written
                    place += written
                    onProgress()
                }
            }
            do throws(PipelineError) {
                try FileFlush.run(target, path, onProgress: onProgress)
            } catch { return error.message }
        }
        return nil
    }

    /// The maximum number of bytes written at once, so that a slow disk shows progress.
    private static let portion = 1 << 20
}
