internal import FoundationEssentials
internal import Glibc
internal import MediaBasics
internal import Synchronization

/// The new file while it is written: in the directory of its target, under an unpredictable name.
///
/// It is created exclusively, so an existing file is never reused, and read and written through its
/// descriptor: a symbolic link that replaces it is not followed.
final class RepairDraft: Sendable {
    /// The file's path, for messages and for publishing.
    let path: String
    /// A path to the same file through its descriptor, for opening it.
    let location: String
    private let descriptor: Int32
    private let target: String
    private let original: String
    private let replaces: Bool
    private let isPublished = Atomic<Bool>(false)

    /// - Parameter replaces: Whether the target is the original.
    init(for target: String, from original: String, replaces: Bool) throws(PipelineError) {
        // If the path is a symbolic link, the link's target is replaced.
        let real = replaces ? URL(fileURLWithPath: target).resolvingSymlinksInPath().path : target
        try DiskSpace.check(real)
        guard replaces || access(real, F_OK) != 0 else { throw Self.occupied(target) }
        guard let size = FileSize.of(original) else {
            throw PipelineError(.notFound, message: "\"\(original)\" is not a file")
        }
        if let free = DiskSpace.free(in: DiskSpace.directory(of: real)), free < size {
            throw PipelineError(
                .noSpaceLeft,
                message:
                    "the new file needs as much space as the recording, \(size) bytes, and only "
                    + "\(free) are free",
                advice: "gst-bridge repair \(original), with the new file on another disk")
        }
        self.target = real
        self.original = original
        self.replaces = replaces
        let directory = DiskSpace.directory(of: real)
        let name = real.split(separator: "/").last.map(String.init) ?? "recording"
        let number = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        path = "\(directory)/.\(name.prefix(64)).repair-\(number)"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        location = "/proc/self/fd/\(descriptor)"
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Flushes the new file to the disk and moves it to its target.
    func publish() throws(PipelineError) {
        takeOver()
        guard fsync(descriptor) == 0 else { throw Self.failure(path) }
        guard isInPlace else {
            throw PipelineError(
                .resourceFailed, message: "another process replaced \(path)",
                advice: "the recording is unchanged; repair it in a directory that only you can "
                    + "write to")
        }
        try move()
        isPublished.store(true, ordering: .relaxed)
        try FileFlush.entry(of: target)
    }

    /// Sets the original's mode, and, if the draft replaces it, its owner.
    private func takeOver() {
        var about = stat()
        guard stat(original, &about) == 0 else { return }
        var mode = about.st_mode & 0o777
        // Only root may change the owner; a member of a group may give files to that group.
        if replaces, fchown(descriptor, about.st_uid, about.st_gid) != 0,
            fchown(descriptor, uid_t.max, about.st_gid) != 0
        {
            // Another group must not get the permissions of the original's group.
            mode &= ~0o070
        }
        fchmod(descriptor, mode)
    }

    private var isInPlace: Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && lstat(path, &there) == 0
            && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
    }

    private func move() throws(PipelineError) {
        if !replaces {
            // Another file may exist by now: `link` fails then, instead of replacing it.
            if link(path, target) == 0 {
                unlink(path)
                return
            }
            if errno == EEXIST { throw Self.occupied(target) }
        }
        guard rename(path, target) == 0 else { throw Self.failure(target) }
    }

    /// Deletes the draft unless it was published.
    func discard() {
        if !isPublished.load(ordering: .relaxed), isInPlace { unlink(path) }
    }

    private static func occupied(_ target: String) -> PipelineError {
        PipelineError(
            .badValue,
            message: "\"\(target)\" already exists; a repair replaces only the recording itself",
            advice: "another name")
    }

    private static func failure(_ path: String) -> PipelineError {
        PipelineError(cannot: "write \(path)", advice: "the recording is unchanged")
    }
}
