internal import Glibc
internal import MediaBasics

extension Recordings {
    /// Repairs a recording whose process was killed: restores its duration and index, and keeps every
    /// frame.
    ///
    /// ```swift
    /// let repair = try await Recordings.repair("killed.mkv")
    /// print(repair.file.duration, repair.tracks.map(\.frames))
    /// ```
    ///
    /// The streams are read, written by the same container's muxer into a new file in the same
    /// directory, and read again. The new file replaces the old one only if every track has as many
    /// encoded frames as before, at the same times. Nothing is re-encoded. If there is an error, or if
    /// the task is cancelled, the original is unchanged. A complete file without fragments is copied
    /// unchanged.
    ///
    /// - Parameters:
    ///   - path: The recording.
    ///   - output: The path of the new file; `nil`, the default: it replaces the recording, once it
    ///     has been checked.
    ///   - stallTimeout: How long reading or writing may make no progress. Default 30 s.
    /// - Returns: The contents of the new file, and as ``File/Inspection/damage`` the damaged parts of the old one,
    ///   which it may lack.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/notFound`` if there is no such file,
    ///   ``PipelineError/Code/streamFailed`` if it cannot be repaired, or if the new file lacks
    ///   anything that the old one has.
    public static func repair(
        _ path: String, to output: String? = nil, stallTimeout: Duration? = nil
    ) async throws(PipelineError) -> File.Inspection {
        try await RecordingRepair(
            path: path, output: output,
            stallTimeout: stallTimeout ?? .seconds(30).asDefaultDeadline
        ).run()
    }
}

/// One repair of a recording. Its path, the path of the new file, and how long nothing may move.
struct RecordingRepair: Sendable {
    let path: String
    /// The path of the new file; `nil`: it replaces the recording, once it has been checked.
    let output: String?
    /// How long reading or writing may make no progress before the repair fails.
    var stallTimeout: Duration

    func run() async throws(PipelineError) -> Recordings.File.Inspection {
        // No other process writes the recording from before the scan until the new file has its name.
        let original = try ClaimedFile(existing: path)
        defer { original.unlock() }
        let recorded = try RecordedContainer.of(path)
        let container = recorded.container
        guard ![.ogg, .flac, .wav].contains(container) else {
            throw PipelineError(
                .streamFailed,
                message:
                    "a .\(container.rawValue) file needs no repair: players read an interrupted one to "
                    + "its end")
        }
        let target = output ?? path
        if let output { try container.check(endingOf: output) }
        // GStreamer's demuxer may end before such a part, or skip it, so frames would be lost.
        let damage = try ContainerDamage.parts(of: path, container)
        if let first = damage.first, output == nil {
            throw PipelineError(
                .streamFailed, message: "\(path) is damaged: \(first)",
                advice: "gst-bridge repair \(path), with the name of a new file")
        }
        let draft = try FileDraft(
            for: target, replacing: output == nil ? original : nil, like: path)
        defer { draft.discard() }
        let free = DiskSpace.free(in: DiskSpace.directory(of: target)) ?? .max
        guard free >= original.byteCount else {
            throw PipelineError(
                .noSpaceLeft,
                message: "the new file needs as much space as the recording, "
                    + "\(original.byteCount) bytes, and only \(free) are free",
                advice: "gst-bridge repair \(path), with the new file on another disk")
        }
        let before = try await scan(path, recorded)
        try RecordedTracks.check(before, in: path)
        let after: [StreamScan.Stream]
        do throws(PipelineError) {
            try await write(before, recorded, to: draft.claim)
            after = try await scan(
                draft.claim.location, RecordedContainer(container: container))
        } catch { throw draft.claim.named(error) }
        try RecordedTracks.compare(before, after, container)
        let file = try await contents(of: draft.claim, at: target)
        guard !Task.isCancelled else {
            throw PipelineError(.interrupted, message: "the repair of \(path) was cancelled")
        }
        try draft.publish()
        return Recordings.File.Inspection(
            file: file, tracks: file.tracks(of: after), damage: damage, gain: nil)
    }

    /// Reads the headers of the new file before it has its name.
    private func contents(
        of draft: ClaimedFile, at target: String
    ) async throws(PipelineError) -> Recordings.File {
        do throws(PipelineError) {
            var file = try await Recordings.File(draft.location)
            file.path = target
            // A draft is locked like a file that is being recorded.
            file.state = file.recorded.state
            return file
        } catch { throw draft.named(error) }
    }

    private func scan(
        _ path: String, _ recorded: RecordedContainer
    ) async throws(PipelineError) -> [StreamScan.Stream] {
        let scan = try StreamScan(
            of: path, demuxer: recorded.container.demuxer, parsers: recorded.container.parsers,
            fragments: recorded.fragments)
        let run = Progressing(what: "reading \(path)", stallTimeout: stallTimeout) { scan.units }
        return try await run.watch { () async throws(PipelineError) in try await scan.run() }
    }

    private func write(
        _ streams: [StreamScan.Stream], _ recorded: RecordedContainer, to draft: ClaimedFile
    ) async throws(PipelineError) {
        let pipeline = try recorded.container.remux(
            streams, from: path, recorded, to: draft.location)
        let run = Progressing(what: "writing \(draft.path)", stallTimeout: stallTimeout) {
            draft.byteCount
        }
        try await run.watch { () async throws(PipelineError) in try await pipeline.runToEnd() }
    }
}

/// Watches work that may take any time, as long as it makes progress.
struct Progressing: Sendable {
    /// A description for errors: `reading a.mkv`.
    let what: String
    let stallTimeout: Duration
    /// Returns a number that grows while the work makes progress.
    let measure: @Sendable () -> Int

    /// Runs `body` until it returns, or cancels it if there is no progress for ``stallTimeout``.
    func watch<R: Sendable>(
        _ body: @escaping @Sendable () async throws(PipelineError) -> R
    ) async throws(PipelineError) -> R {
        let outcome = await withTaskGroup(of: Result<R, PipelineError>?.self) { group in
            group.addTask {
                do throws(PipelineError) {
                    return .success(try await body())
                } catch { return .failure(error) }
            }
            group.addTask {
                var last = -1
                while case let now = measure(), now != last {
                    last = now
                    // If the task is cancelled, the sleep returns at once.
                    do { try await Task.sleep(for: stallTimeout) } catch { break }
                }
                return nil
            }
            var first = await group.next() ?? nil
            if first == nil, Task.isCancelled { first = await group.next() ?? nil }
            group.cancelAll()
            return first
        }
        if let outcome { return try outcome.get() }
        throw PipelineError(
            .deadlineExceeded, message: "\(what) is stuck: no progress for \(stallTimeout)",
            advice: "look for a disk that does not answer")
    }
}
