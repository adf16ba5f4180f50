public import FoundationEssentials
internal import Glibc
internal import MediaBasics

extension Recordings {
    /// A file made of a part of the recordings.
    public struct Clip: Sendable {
        /// The file. It states when its first frame was captured.
        public var file: RecordedFile
        /// The recordings that it was copied from, in order.
        public var sources: [String]
        /// How much earlier than requested it begins, because it begins with a key frame; negative if
        /// the first recording, or its first key frame, is later.
        public var lead: Duration
        /// How many pictures were encoded again, from an exact beginning to the next key frame.
        public var encoded: Int
        /// The times without a recording in it, which are as long in the file.
        public var gaps: [Duration]
        /// Streams of the recordings that are not in it: it has one video stream, and all audio tracks that the container
        /// holds.
        public var leftOut: [String]
    }

    /// Returns a time that a text describes: `2026-11-27T14:03:20.5`, with an offset such as
    /// `+01:00` or without, or `14:03:20` on the day of the recordings.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - isUTC: Whether a text without an offset is in UTC. Default: local time.
    /// - Throws: ``PipelineError`` for another text; for one without a day if the recordings are from
    ///   several days; and for one without an offset that the recordings contain twice, because summer time
    ///   ends, or that is skipped, because it begins.
    public func time(_ text: String, isUTC: Bool = false) throws(PipelineError) -> Date {
        let clock = WallClock(zone: isUTC ? "UTC" : nil)
        var whole = text.split(separator: ":").count == 2 ? "\(text):00" : text
        if !whole.contains("T") {
            let ends = files.flatMap { [$0.date, max($0.date, $0.end - 1)] }
            let days = Set(ends.compactMap { clock.text(of: $0, format: "%Y-%m-%d") }).sorted()
            let (first, last) = (days.first ?? "1970-01-01", days.last ?? "")
            guard days.count < 2 else {
                throw PipelineError(
                    .badValue,
                    message:
                        "\"\(text)\" has no date, and the recordings are from \(first) to \(last)",
                    advice: "\(last)T\(text)")
            }
            whole = "\(first)T\(whole)"
        }
        guard let times = clock.times(of: whole) else {
            throw PipelineError(
                .badValue, message: "\"\(text)\" is not a time",
                advice: "14:03:20, 2026-11-27T14:03:20 or, from the beginning, 90s")
        }
        let recorded = times.filter { time in files.contains { $0.date <= time && time <= $0.end } }
        guard recorded.count < 2, let time = recorded.first ?? times.first else {
            let texts = recorded.compactMap { clock.text(of: $0, format: "%Y-%m-%dT%H:%M:%S%:z") }
            throw PipelineError(
                .badValue,
                message: texts.isEmpty
                    ? "there is no \"\(text)\": local time skips it when summer time begins"
                    : "\"\(text)\" is there twice, because summer time ends",
                advice: texts.isEmpty ? "a time in UTC" : texts.joined(separator: " or "))
        }
        return Date(nanosecondsSince1970: time)
    }

    /// Copies a part of the recordings into one file, without encoding unless the beginning must be
    /// exact. The file extension selects the container.
    ///
    /// The clip begins with the last key frame up to `begin`, and ends before the first frame at or after
    /// `end`. Recordings that follow each other without a gap are joined; otherwise the clip has a gap of
    /// the same length. It is read back before the function returns. After an error there is no clip,
    /// and the recordings are unchanged.
    ///
    /// - Parameters:
    ///   - begin: Default `nil`: the beginning of the first recording.
    ///   - end: Default `nil`: the end of the last recording.
    ///   - path: The file to write. Its extension selects the container.
    ///   - isExact: Whether the clip begins with the first frame at or after `begin`: the pictures from
    ///     there to the next key frame (of H.264: the next IDR picture) are then encoded again. Default:
    ///     false. It takes H.264 with 8 bits per sample, VP8 and VP9.
    ///   - hasVideo: Whether the clip has the video, unless its file contains only audio (`.m4a`, `.ogg`,
    ///     `.flac`, `.wav`). Default true.
    ///   - hasAudio: Whether the clip has the audio. Default true.
    ///   - whenExists: What to do if there is a file at `path`.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/badValue`` if there is no recording in that time,
    ///   or if several overlap; ``PipelineError/Code/streamFailed`` if the container does not take a
    ///   stream, or if the format differs between recordings; an error of the disk.
    public func clip(
        from begin: Date? = nil, to end: Date? = nil, into path: String, isExact: Bool = false,
        hasVideo: Bool = true, hasAudio: Bool = true, whenExists: WhenExists = .fail
    ) async throws(PipelineError) -> Clip {
        let files = joined
        let from = begin?.nanoseconds ?? files.first?.date ?? 0
        let to = end?.nanoseconds ?? files.map { $0.end + $0.tolerance }.max() ?? .max
        let parts = try parts(of: files, from: from, to: to)
        let container = try RecordingContainer(path: path)
        let draft = try draft(for: path, whenExists)
        defer { draft?.discard() }
        let takesVideo = hasVideo && !RecordingContainer.isOfSound(path: path)
        let wanted = MediaKind.allCases.filter { $0 == .video ? takesVideo : hasAudio }
        let plans = try parts.map { file throws(PipelineError) in
            try ClipPlan(file, into: container, wanted)
        }
        let streams = Set(plans.flatMap(\.streams)).sorted()
        guard let leader = streams.first else {
            throw PipelineError(
                .streamFailed,
                message:
                    "\(parts[0].path) has no \(wanted.map(\.rawValue).joined(separator: " or "))")
        }
        // The times in the clip count from the date of the first recording.
        let date = parts[0].date
        let timeline = RecordingTimeline(leader: leader, wallClock: WallClock { date })
        _ = timeline.place(.zero, nil, of: leader)
        let writer = FileWriter(
            names: RecordingNames(path, isNumbered: false), container: container,
            limits: WritingLimits(reserve: 0, stallTimeout: Self.waitLimit, whenExists: whenExists),
            timeline: timeline, queue: SerialQueue(label: "mediabridge.clip"), clock: .system,
            progress: RecordingProgress(), notify: { _ in })
        writer.claimed = draft?.claim
        let keepsPreSkip = parts.count == 1 && from <= date
        let cutter = ClipCutter(
            from: from - date, to: to - date, keepsPreSkip: keepsPreSkip,
            RecordingCourse(streams, writer))
        do throws(PipelineError) {
            let exact =
                isExact && leader == .video && from >= date
                ? try await ExactBeginning.encode(
                    plans[0], from - date + plans[0].file.start..<to - date + plans[0].file.start,
                    in: container) : nil
            let gaps = try await copy(plans, cutter, writer.progress, exact)
            cutter.finish()
            let file = try await file(of: writer, cutter)
            guard !Task.isCancelled else { throw Self.cancelled }
            try draft?.publish()
            let lead = cutter.began.map { from - date - $0 } ?? 0
            return Clip(
                file: file, sources: parts.map(\.path), lead: .nanoseconds(lead),
                encoded: exact?.units.count ?? 0, gaps: gaps,
                leftOut: plans.flatMap(\.leftOut))
        } catch {
            await discard(writer, cutter, error, sparing: path)
            throw Task.isCancelled ? Self.cancelled : error
        }
    }

    private static var cancelled: PipelineError {
        PipelineError(.interrupted, message: "the clip was cancelled")
    }

    /// How long reading or writing may make no progress.
    private static let waitLimit = Duration.seconds(30).asDefaultDeadline

    /// The recordings; those with estimated times that overlap follow each other.
    private var joined: [File] {
        var (files, end) = (files, Int64.min)
        for index in files.indices {
            if files[index].isEstimated { files[index].date = max(files[index].date, end) }
            end = files[index].end
        }
        return files
    }

    /// Returns the recordings in a time, which must not overlap.
    private func parts(
        of files: [File], from begin: Int64, to end: Int64
    ) throws(PipelineError) -> [File] {
        let parts = files.filter { $0.date < end && $0.end > begin }
        for (one, next) in zip(parts, parts.dropFirst())
        where one.end - next.date > max(one.tolerance, next.tolerance) {
            throw PipelineError(
                .badValue, message: "\(one.path) and \(next.path) were recorded at the same time",
                advice: "name the files of one camera")
        }
        guard parts.isEmpty || begin >= end else { return parts }
        func text(_ time: Int64?) -> String {
            time.flatMap { WallClock().text(of: $0, format: "%Y-%m-%dT%H:%M:%S") } ?? "?"
        }
        guard let first = files.first, let last = files.map(\.end).max() else {
            throw PipelineError(
                .badValue, message: "there is no recording", advice: "check the path")
        }
        throw PipelineError(
            .badValue,
            message: begin >= end && end < last
                ? "the clip ends before it begins"
                : begin >= last
                    ? "there is no recording from \(text(begin)) on"
                    : "there is no recording from \(text(begin)) to \(text(end))",
            advice: "the recordings are from \(text(first.date)) to \(text(last))")
    }

    /// Returns the clip while it is written; `nil` if it is written directly.
    private func draft(
        for path: String, _ whenExists: WhenExists
    ) throws(PipelineError) -> FileDraft? {
        var (target, source) = (stat(), stat())
        let exists = stat(path, &target) == 0
        for file in files where exists && stat(file.path, &source) == 0 {
            guard (target.st_dev, target.st_ino) == (source.st_dev, source.st_ino) else { continue }
            throw PipelineError(
                .badValue, message: "\"\(path)\" is a recording that the clip is made of",
                advice: "another name")
        }
        try DiskSpace.check(path)
        return try FileDraft(writing: path, overwrites: whenExists == .overwrite)
    }

    /// Copies all parts, and returns the gaps between them.
    private func copy(
        _ plans: [ClipPlan], _ cutter: ClipCutter, _ progress: RecordingProgress,
        _ exact: ExactBeginning?
    ) async throws(PipelineError) -> [Duration] {
        var (gaps, place) = ([Duration](), Int64(0))
        for (index, plan) in plans.enumerated() {
            if index > 0 {
                let before = plans[index - 1].file
                let gap = plan.file.date - before.end
                if gap > max(plan.file.tolerance, before.tolerance) {
                    place += plan.file.date - before.date
                    gaps.append(.nanoseconds(gap))
                } else {
                    place = max(place, cutter.placeBehind(plan))
                }
            }
            let start = cutter.begin(plan, at: place, exact: index == 0 ? exact : nil)
            let reader = try plan.reader()
            let run = Progressing(
                what: "copying \(plan.file.path)", stallTimeout: Self.waitLimit
            ) { cutter.taken + progress.written }
            try await run.watch { () async throws(PipelineError) in
                try await Self.read(reader, from: start, cutter, progress)
            }
            if let failure = cutter.failure ?? progress.failure { throw failure }
        }
        if exact != nil, cutter.given[.video] == nil {
            throw PipelineError(
                .noFrames, message: "there is no picture in the time of the exact clip",
                advice: "begin earlier, or make a clip that begins with a key frame")
        }
        return gaps
    }

    private static func read(
        _ reader: StreamReader, from start: Int64?, _ cutter: ClipCutter,
        _ progress: RecordingProgress
    ) async throws(PipelineError) {
        let outcome = await withTaskCancellationHandler {
            do throws(PipelineError) {
                try await reader.run(
                    from: start.flatMap { ClockTime(MediaTime(nanoseconds: $0)) },
                    onTags: { cutter.take($1, of: $0) }, cutter.take)
                return Result<Void, PipelineError>.success(())
            } catch { return .failure(error) }
        } onCancel: {
            // A writer that waits for the disk would keep the reader from ending.
            progress.update { $0.current }?.abandon()
        }
        try outcome.get()
    }

    /// Returns the complete file, which must contain every unit.
    private func file(
        of writer: FileWriter, _ cutter: ClipCutter
    ) async throws(PipelineError) -> RecordedFile {
        let files = try await writer.files()
        let written = writer.progress.update { $0.written }
        for (stream, count) in cutter.given where written[stream] != count || files.count > 1 {
            throw PipelineError(
                .streamFailed,
                message: "the clip has \(written[stream] ?? 0) of \(count) encoded \(stream.name) "
                    + "frames: the streams are too far apart", advice: "a shorter clip")
        }
        return files[0]
    }

    /// Ends the writer, and removes further files that it has written.
    private func discard(
        _ writer: FileWriter, _ cutter: ClipCutter, _ error: PipelineError,
        sparing path: String
    ) async {
        let progress = writer.progress
        _ = progress.fail(error)
        progress.update { $0.current }?.abandon()
        cutter.finish()
        _ = await writer.untilDone(within: .seconds(2))
        let left = progress.update { $0.files.map(\.path) + [$0.current?.path].compactMap { $0 } }
        for other in left where other != path { unlink(other) }
    }
}

extension Date {
    fileprivate var nanoseconds: Int64 {
        Int64(exactly: (timeIntervalSince1970 * 1e9).rounded()) ?? 0
    }
}
