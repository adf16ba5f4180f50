internal import Glibc
internal import MediaBasics
internal import Synchronization

/// Verification of a file after it was written.
extension RecordingFile {
    /// Reads the complete file until each of its streams and a unit of it were found, and compares its duration.
    /// A pipe or a device cannot be read back, and is not checked.
    ///
    /// - Throws: ``PipelineError`` if the file does not exist, or does not contain what was
    ///   written.
    func readBack(within limit: Duration) async throws(PipelineError) {
        var status = stat()
        let path = self.path
        guard stat(path, &status) == 0 else {
            throw bad("it cannot be found: \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        let scan = try StreamScan(
            of: path, demuxer: container.demuxer, parsers: container.parsers,
            buffersOfEach: Self.enough)
        let outcome = Outcome()
        // A control task: the deadline must not depend on how busy Swift's thread pool is.
        let task = ControlTask.start {
            do throws(PipelineError) {
                let streams = try await scan.run()
                outcome.streams.withLock { $0 = streams }
            } catch {
                outcome.failure.withLock { $0 = error }
            }
            outcome.isThere.open()
        }
        guard await outcome.isThere.wait(for: limit) else {
            task.cancel()
            throw bad("it cannot be read within \(limit)")
        }
        if let failure = outcome.failure.withLock({ $0 }) { throw bad(failure.message) }
        let found = outcome.streams.withLock { $0 }.filter { !$0.times.isEmpty }
        for kind in kinds where written(kind) > 0 {
            guard found.contains(where: { ($0.mediaType.hasPrefix("audio/")) == (kind == .audio) })
            else { throw bad("it has no \(kind == .video ? "video" : "audio")") }
        }
        // Transport streams state no duration: demuxers estimate it.
        guard container != .ts, let stated = scan.duration.map({ MediaTime($0) }) else { return }
        guard abs((stated - duration).nanoseconds) < Self.tolerance else {
            throw bad("it states a duration of \(stated) instead of \(duration)")
        }
    }

    /// How far the stated duration may be off, in nanoseconds: muxers round it, and may not know how long the
    /// last unit is.
    private static let tolerance: Int64 = 500_000_000

    /// Number of buffers to read of each stream; more than any codec has headers: FLAC in Matroska
    /// begins with several.
    private static let enough = 32

    private final class Outcome: Sendable {
        let streams = Mutex<[StreamScan.Stream]>([])
        let failure = Mutex<PipelineError?>(nil)
        let isThere = Latch()
    }

    private func bad(_ what: String) -> PipelineError {
        PipelineError(
            .resourceFailed,
            message: "the recording \"\(path)\" was written, but reading it back failed: \(what)",
            advice: "check the disk, and whether another program writes to the file")
    }
}
