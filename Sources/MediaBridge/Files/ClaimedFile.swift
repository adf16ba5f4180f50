internal import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// A file that one process writes or replaces: it is locked until ``unlock()``, so that no recording and no command
/// of another process writes it as well.
///
/// A pipe or a device is not locked. Thread: any.
final class ClaimedFile: Sendable {
    private let given: String
    /// The path to report instead; `nil` for the file's own path.
    private let shown: String?
    /// -1 for a pipe or a device.
    let descriptor: Int32

    /// Creates the file, or locks the existing one. Its content stays.
    ///
    /// - Parameters:
    ///   - mustBeNew: Whether the file must not exist yet.
    ///   - mode: The permissions of a new file.
    ///   - shown: The path that errors and reports state. Default: the file's own path.
    /// - Returns: `nil` if the file must be new, and is not.
    /// - Throws: ``PipelineError`` if another recording writes the file, or it cannot be opened.
    init?(
        _ path: String, mustBeNew: Bool, mode: mode_t = 0o666, shownAs shown: String? = nil
    ) throws(PipelineError) {
        (given, self.shown) = (path, shown)
        guard Self.isFile(path) else {
            descriptor = -1
            return
        }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (mustBeNew ? O_EXCL : 0)
        let file = try Self.lock(path) { open(path, flags, mode) }
        guard file >= 0 else {
            if mustBeNew, errno == EEXIST { return nil }
            throw PipelineError(cannot: "write \"\(shown ?? path)\"")
        }
        descriptor = file
        if !mustBeNew { try FileSize.requireUnread(path) }
    }

    /// Locks an existing file that is to be replaced.
    ///
    /// - Throws: ``PipelineError`` if another recording writes the file, or it cannot be opened.
    init(existing path: String) throws(PipelineError) {
        (given, shown) = (path, nil)
        descriptor = try Self.lock(path) {
            // Some file systems lock only files that are open for writing.
            let file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return file >= 0 ? file : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        }
        guard descriptor >= 0 else {
            throw PipelineError(
                errno == ENOENT ? .notFound : .resourceFailed, cannot: "open \"\(path)\"",
                advice: "check the path")
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A process that is being started keeps the descriptor, and with it the lock, until its exec.
        unlock()
        close(descriptor)
    }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Returns whether a recording or a command writes or replaces a file now.
    static func isLocked(_ path: String) -> Bool {
        guard isFile(path) else { return false }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func locked(_ path: String) -> PipelineError {
        PipelineError(
            .resourceFailed, message: "another recording is writing \"\(path)\"",
            advice: "wait until that recording has ended, or choose another name")
    }

    /// Throws if a filesink of a pipeline would overwrite a file that is locked.
    static func check(_ pipeline: Pipeline) throws(PipelineError) {
        for element in pipeline.elements where element.factoryName == "filesink" {
            if let path = element.string("location"), isLocked(path) { throw locked(path) }
        }
    }

    /// Opens and locks a file. A file that is replaced in between is opened again.
    ///
    /// - Returns: -1 if it cannot be opened; `errno` has the reason.
    private static func lock(
        _ path: String, _ open: () -> Int32
    ) throws(PipelineError) -> Int32 {
        for _ in 0..<10 {
            let file = open()
            guard file >= 0 else { return file }
            // A file system without locks is no reason to refuse.
            guard flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
                close(file)
                throw locked(path)
            }
            if leads(path, to: file) { return file }
            close(file)
        }
        throw PipelineError(
            .resourceFailed, message: "other processes keep replacing \"\(path)\"",
            advice: "another name")
    }

    /// Lets others write the file.
    func unlock() { flock(descriptor, LOCK_UN) }

    /// The path for opening the file: through the descriptor, so that it is this file wherever it was moved.
    var location: String { descriptor >= 0 ? "/proc/self/fd/\(descriptor)" : given }

    /// Returns an error about ``location`` with the path that the caller knows.
    func named(_ error: PipelineError) -> PipelineError {
        guard descriptor >= 0 else { return error }
        var error = error
        let path = path
        error.message = error.message.replacing(location, with: path)
        error.debug = error.debug?.replacing(location, with: path)
        return error
    }

    /// The file's path: not the one that was given if the file, or a directory above it, was renamed.
    var path: String { shown ?? place ?? given }

    /// The path that leads to the file; `nil` if none is known.
    private var place: String? {
        guard descriptor >= 0, !Self.leads(given, to: descriptor) else { return given }
        let now = try? FileManager.default.destinationOfSymbolicLink(atPath: location)
        return now.flatMap { Self.leads($0, to: descriptor) ? $0 : nil }
    }

    /// Throws if no path leads to the file any more. A file that was moved within its file system keeps one.
    func checkPlace() throws(PipelineError) {
        // A file that is moved between the two looks is found by the second attempt.
        guard place == nil, place == nil else { return }
        throw PipelineError(
            .resourceFailed,
            message:
                "\"\(path)\" was written, but is no longer there: another process removed or replaced "
                + "it, or its disk was unmounted. What was written to it may be lost",
            advice: "check which programs remove or replace files there")
    }

    /// Returns whether the path that was given leads to the file.
    ///
    /// - Parameter followsLinks: Whether the path may end in a symbolic link.
    func isInPlace(followsLinks: Bool) -> Bool {
        descriptor < 0 || Self.leads(given, to: descriptor, look: followsLinks ? stat : lstat)
    }

    private static func leads(
        _ path: String, to descriptor: Int32,
        look: (UnsafePointer<CChar>, UnsafeMutablePointer<stat>) -> Int32 = stat
    ) -> Bool {
        var (here, there) = (stat(), stat())
        return fstat(descriptor, &here) == 0 && look(path, &there) == 0
            && (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
    }

    /// The file's size in bytes; 0 for a pipe or a device.
    var byteCount: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}
