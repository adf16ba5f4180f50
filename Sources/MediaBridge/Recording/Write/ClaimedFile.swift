internal import FoundationEssentials
internal import Glibc

/// A file that one recording writes: it is locked until ``unlock()``, so that no other recording of any process
/// writes it as well.
///
/// A pipe or a device is not locked. Thread: any.
final class ClaimedFile: Sendable {
    private let given: String
    /// -1 for a pipe or a device.
    private let descriptor: Int32

    /// Creates the file, or locks the existing one. Its content stays.
    ///
    /// - Parameter mustBeNew: Whether the file must not exist yet.
    /// - Returns: `nil` if the file must be new, and is not.
    /// - Throws: ``PipelineError`` if another recording writes the file, or it cannot be opened.
    init?(_ path: String, mustBeNew: Bool) throws(PipelineError) {
        given = path
        var status = stat()
        if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
            descriptor = -1
            return
        }
        descriptor = open(
            path, O_WRONLY | O_CREAT | O_CLOEXEC | (mustBeNew ? O_EXCL : 0), 0o666)
        guard descriptor >= 0 else {
            if mustBeNew, errno == EEXIST { return nil }
            throw PipelineError(
                .resourceFailed,
                message: "cannot write \"\(path)\": \(String(cString: strerror(errno)))")
        }
        // A file system without locks is no reason to refuse.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw PipelineError(
                .resourceFailed, message: "another recording is writing \"\(path)\"",
                advice: "another name")
        }
        if !mustBeNew { try FileSize.requireUnread(path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Lets others write the file.
    func unlock() { flock(descriptor, LOCK_UN) }

    /// The file's path: not the one that was given if the file, or a directory above it, was renamed.
    var path: String {
        var (here, there) = (stat(), stat())
        guard descriptor >= 0, fstat(descriptor, &here) == 0 else { return given }
        func isHere(_ path: String) -> Bool {
            stat(path, &there) == 0 && (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
        }
        guard !isHere(given),
            let now = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(descriptor)"), isHere(now)
        else { return given }
        return now
    }

    /// The file's size in bytes; 0 for a pipe or a device.
    var byteCount: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}
