internal import FoundationEssentials
internal import Glibc
internal import MediaBasics
internal import Synchronization

/// A new file while it is written: in the directory of its target, under an unpredictable name. When it is complete,
/// it gets the target's name; until then, a file of that name stays unchanged, and locked for other writers.
///
/// It is created exclusively, so an existing file is never reused, and read and written through its
/// descriptor: a symbolic link that replaces it is not followed.
final class FileDraft: Sendable {
    /// The draft itself; its errors state the target's path.
    let claim: ClaimedFile
    private let path: String
    private let target: String
    private let replaced: ClaimedFile?
    /// The file whose permissions the draft gets; `nil` for those of any new file.
    private let model: String?
    private let isPublished = Atomic<Bool>(false)

    /// - Parameters:
    ///   - target: The path of the file that is to be written.
    ///   - replaced: The file at that path, if the draft replaces it. Otherwise there must be none.
    ///   - model: The file whose permissions the draft gets if it replaces none.
    init(
        for target: String, replacing replaced: ClaimedFile?, like model: String? = nil
    ) throws(PipelineError) {
        try DiskSpace.check(target)
        // If the path is a symbolic link, the link's target is replaced.
        let real =
            replaced == nil ? target : URL(fileURLWithPath: target).resolvingSymlinksInPath().path
        guard replaced != nil || access(real, F_OK) != 0 else { throw Self.occupied(target) }
        (self.target, self.replaced) = (real, replaced)
        self.model = replaced == nil ? model : real
        let name = real.split(separator: "/").last.map(String.init) ?? "recording"
        let number = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        path = "\(DiskSpace.directory(of: real))/.\(name.prefix(64)).draft-\(number)"
        let claim = try ClaimedFile(
            path, mustBeNew: true, mode: self.model == nil ? 0o666 : 0o600, shownAs: target)
        guard let claim else { throw Self.failure(target) }
        self.claim = claim
    }

    /// Creates the draft of a file that is written or overwritten.
    ///
    /// - Returns: `nil` for a pipe, a device or a symbolic link to no file: they are written directly.
    /// - Throws: ``PipelineError/Code/alreadyExists`` if there is a file that must not be overwritten.
    convenience init?(writing path: String, overwrites: Bool) throws(PipelineError) {
        let exists = FileSize.of(path) != nil
        var status = stat()
        guard exists || lstat(path, &status) != 0 else { return nil }
        guard overwrites || !exists else { throw .exists(path) }
        try self.init(
            for: path, replacing: exists ? try ClaimedFile(existing: path) : nil)
    }

    /// Gives the new file its target's name.
    ///
    /// - Parameter flushes: Whether the file reaches the disk first, so that it survives a power failure.
    func publish(flushes: Bool = true) throws(PipelineError) {
        takeOver()
        guard !flushes || fsync(claim.descriptor) == 0 else { throw Self.failure(target) }
        guard claim.isInPlace(followsLinks: false),
            replaced?.isInPlace(followsLinks: true) ?? true
        else {
            throw PipelineError(
                .resourceFailed,
                message: "another process replaced \"\(target)\" while its new version was written",
                advice: "write to a directory that no other program changes")
        }
        try move()
        isPublished.store(true, ordering: .relaxed)
        if flushes { try FileFlush.entry(of: target) }
    }

    /// Sets the mode of the model, and the owner of the file that is replaced.
    private func takeOver() {
        var about = stat()
        guard let model, stat(model, &about) == 0 else { return }
        var mode = about.st_mode & 0o777
        // Only root may change the owner; a member of a group may give files to that group.
        if replaced != nil, fchown(claim.descriptor, about.st_uid, about.st_gid) != 0,
            fchown(claim.descriptor, uid_t.max, about.st_gid) != 0
        {
            // Another group must not get the permissions of the original's group.
            mode &= ~0o070
        }
        fchmod(claim.descriptor, mode)
    }

    private func move() throws(PipelineError) {
        if replaced == nil {
            // Another file may exist by now: `link` fails then, instead of replacing it.
            if link(path, target) == 0 {
                unlink(path)
                return
            }
            if errno == EEXIST { throw Self.occupied(target) }
        }
        guard rename(path, target) == 0 else { throw Self.failure(target) }
    }

    /// Deletes the draft unless it was published, and unlocks the file at its target.
    func discard() {
        replaced?.unlock()
        if !isPublished.load(ordering: .relaxed), claim.isInPlace(followsLinks: false) {
            unlink(path)
        }
    }

    private static func occupied(_ target: String) -> PipelineError {
        PipelineError(.badValue, message: "\"\(target)\" already exists", advice: "another name")
    }

    private static func failure(_ path: String) -> PipelineError {
        PipelineError(cannot: "write \"\(path)\"", advice: "what was there before is unchanged")
    }
}
