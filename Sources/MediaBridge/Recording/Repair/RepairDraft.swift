internal import Foundation
internal import Synchronization

/// The new file while it is written: beside the one that it is to be, under a name of its own.
final class RepairDraft: Sendable {
    let path: String
    private let target: String
    private let original: String
    private let isPublished = Atomic<Bool>(false)

    /// - Parameter replaces: Whether the target is the original.
    init(for target: String, from original: String, replaces: Bool) throws(PipelineError) {
        // A link's target is replaced, not the link.
        let real = replaces ? URL(fileURLWithPath: target).resolvingSymlinksInPath().path : target
        try DiskSpace.check(real)
        guard replaces || access(real, F_OK) != 0 else {
            throw PipelineError(
                .badValue,
                message: "\"\(target)\" is there already, and only the recording itself "
                    + "is ever replaced", advice: "another name")
        }
        guard let size = FileSize.of(original) else {
            throw PipelineError(.notFound, message: "\"\(original)\" is not a file")
        }
        if let free = DiskSpace.free(around: real), free < size {
            throw PipelineError(
                .noSpaceLeft,
                message:
                    "the new file takes as much as the old one, \(size) bytes, and only \(free) "
                    + "are free", advice: "gst-bridge repair \(original) with a file elsewhere")
        }
        self.target = real
        self.original = original
        let directory = DiskSpace.directory(of: real)
        let name = real.split(separator: "/").last.map(String.init) ?? "recording"
        path = "\(directory)/.\(name).repair-\(getpid())"
    }

    /// Puts the new file in its place, once all of it is on the disk.
    func publish() throws(PipelineError) {
        let file = open(path, O_RDWR)
        guard file >= 0 else { throw Self.failure(path) }
        defer { close(file) }
        var about = stat()
        if stat(original, &about) == 0 { fchmod(file, about.st_mode & 0o7777) }
        guard fsync(file) == 0 else { throw Self.failure(path) }
        guard rename(path, target) == 0 else { throw Self.failure(target) }
        isPublished.store(true, ordering: .relaxed)
        let directory = open(DiskSpace.directory(of: target), O_RDONLY | O_DIRECTORY)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    /// Takes away what was not published.
    func discard() { if !isPublished.load(ordering: .relaxed) { unlink(path) } }

    private static func failure(_ path: String) -> PipelineError {
        PipelineError(
            .resourceFailed, message: "\(path): \(String(cString: strerror(errno)))",
            advice: "the recording is as it was")
    }
}
