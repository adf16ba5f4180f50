internal import Glibc
internal import MediaBasics

/// Turns a recording whose process was killed into one with duration and index, every frame kept.
///
/// ```swift
/// let report = try await RecordingRepair("killed.mkv").run()
/// print(report.seconds, report.tracks)
/// ```
///
/// The streams are read, written by the same container's muxer into a new file beside it, and read again:
/// only where every track has as many units as before, at the same times, does the new file take its place.
/// Nothing is encoded anew. Whatever goes wrong, the original is as it was.
///
/// One run for each repair. Thread: any but a streaming thread.
public struct RecordingRepair: Sendable {
    /// What there is in the repaired recording.
    public struct Report: Hashable, Sendable {
        /// One stream of it.
        public struct Track: Hashable, Sendable {
            /// `video/x-h264`, as GStreamer names it.
            public var mediaType: String
            /// Pictures, or blocks of sound.
            public var units: Int
            /// From the first unit to the last, in seconds.
            public var seconds: Double
        }
        public var container: RecordingContainer
        /// The file that was repaired, and the one that was written: the same where no other was asked for.
        public var input: String
        public var output: String
        public var tracks: [Track]
        /// From the first unit of all to the last, in seconds.
        public var seconds: Double
        /// Of the new file.
        public var bytes: Int
    }

    /// The recording.
    public let path: String
    /// Where the new one goes; `nil`: in its place, once it has been checked.
    public let output: String?
    /// How long reading or writing may stand still before it is given up. Default 30 s.
    public var patience = Duration.seconds(30).asDefaultDeadline

    public init(_ path: String, to output: String? = nil) {
        self.path = path
        self.output = output
    }

    /// Repairs it. Cancelling the task gives up, and leaves everything as it was.
    ///
    /// - Throws: ``PipelineError``: ``PipelineError/Code/notFound`` where there is no such file,
    ///   ``PipelineError/Code/streamFailed`` where nothing can be done, or the new file is not as good as
    ///   the old one.
    public func run() async throws(PipelineError) -> Report {
        let recorded = try RecordedContainer(of: path)
        let container = recorded.container
        let target = output ?? path
        if let output { try container.check(endingOf: output) }
        let draft = try RepairDraft(for: target, from: path, replaces: output == nil)
        defer { draft.discard() }
        let before = try await scan(path, recorded)
        try RecordedTracks.check(before, in: path)
        let after: [StreamScan.Stream]
        do throws(PipelineError) {
            try await write(before, recorded, to: draft)
            after = try await scan(draft.location, RecordedContainer(container))
        } catch { throw error.naming(draft.location, as: draft.path) }
        try RecordedTracks.compare(before, after, container)
        guard !Task.isCancelled else {
            throw PipelineError(.interrupted, message: "\(path): the repair was given up")
        }
        try draft.publish()
        return Report(
            container: container, input: path, output: target,
            tracks: after.map { stream in
                Report.Track(
                    mediaType: stream.mediaType, units: stream.times.count,
                    seconds: RecordedTracks.seconds(of: [stream]))
            }, seconds: RecordedTracks.seconds(of: after), bytes: FileSize.of(target) ?? 0)
    }

    private func scan(
        _ path: String, _ recorded: RecordedContainer
    ) async throws(PipelineError) -> [StreamScan.Stream] {
        let scan = try StreamScan(
            of: path, demuxer: recorded.container.demuxer, parsers: recorded.container.parsers,
            fragments: recorded.fragments)
        let run = Progressing(what: "reading \(path)", patience: patience) { scan.units }
        return try await run.watch { () async throws(PipelineError) in try await scan.run() }
    }

    private func write(
        _ streams: [StreamScan.Stream], _ recorded: RecordedContainer, to draft: RepairDraft
    ) async throws(PipelineError) {
        let pipeline = try recorded.container.remux(
            streams, from: path, fragments: recorded.fragments, to: draft.location)
        let run = Progressing(what: "writing \(draft.path)", patience: patience) {
            FileSize.of(draft.location) ?? 0
        }
        try await run.watch { () async throws(PipelineError) in try await pipeline.runToEnd() }
    }
}

extension PipelineError {
    /// The same error in terms of what its reader knows.
    fileprivate func naming(_ location: String, as path: String) -> PipelineError {
        var error = self
        error.message = message.replacing(location, with: path)
        error.debug = debug?.replacing(location, with: path)
        return error
    }
}
