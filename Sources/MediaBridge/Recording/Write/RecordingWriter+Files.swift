internal import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// Completes files, reports them, and removes old ones. Thread: the writer's queue.
extension RecordingWriter {
    /// Completes the current file, concurrently with the next one.
    func closeFile() {
        guard let file else { return }
        self.file = nil
        closing += 1
        let limits = self.limits
        // In a task, so that the next file need not wait for the end of this one.
        ControlTask.start { [self] in
            do throws(PipelineError) {
                try await file.finish(
                    stallTimeout: limits.stallTimeout,
                    deadline: Duration.seconds(2).asDefaultDeadline)
                // A long file that is read, and a disk that takes what waits in memory, are not stuck.
                let onProgress = { [progress] in progress.update { $0.moved += 1 } }
                if limits.isDurable { try file.flush(isNew: true, onProgress) }
                try file.addIndex(isFragmented: limits.isFragmented, onProgress: onProgress)
                try await file.readBack(within: limits.stallTimeout)
                try file.checkPlace()
                queue.async { [self] in closed(file, nil) }
            } catch {
                if limits.isDurable { try? file.flush(isNew: true) }
                // A disk that does not respond would not answer this either.
                if error.code != .deadlineExceeded { await file.count(within: limits.stallTimeout) }
                queue.async { [self] in closed(file, error) }
            }
        }
    }

    private func closed(_ file: RecordingFile, _ failure: PipelineError?) {
        let report = file.report(failure)
        file.unlock()
        progress.update { state in
            state.add(report, at: file.index)
            for kind in file.kinds { state.written[kind, default: 0] += file.written(kind) }
            if state.current === file { state.current = nil }
            state.unfinished.removeAll { $0 === file }
        }
        if let failure { fail(failure) }
        notify(.fileFinished(report))
        guardian.complete(file.index)
        let isOver: @Sendable () -> Void = { [self] in
            closing -= 1
            finishIfDone()
        }
        guard let ring else { return isOver() }
        // A file that was given another name is no file of the ring.
        if file.isInPlace { ring.add(report, at: file.index) }
        ring.trim { [queue] in queue.async(isOver) }
    }

    func finishIfDone() {
        guard closing == 0 else { return }
        completing?.open()
        completing = nil
        if phase == .done { done.open() }
    }

    /// Suspends until every file is complete. Thread: any.
    func untilDone(within limit: Duration?) async -> Bool { await done.wait(for: limit, on: clock) }

    /// Suspends until every file is complete. Thread: any.
    ///
    /// - Parameter stallTimeout: The longest time without anything being written.
    /// - Returns: False if nothing was written for so long.
    func untilDone(stallTimeout: Duration) async -> Bool {
        var seen = progress.written
        while await !untilDone(within: stallTimeout) {
            let now = progress.written
            guard now != seen else { return false }
            seen = now
        }
        return true
    }

    /// Waits until every file is complete, and returns them. Thread: any.
    ///
    /// - Throws: ``PipelineError``: the error that made it fail; that nothing was written for
    ///   ``WritingLimits/stallTimeout``, or that there is no file.
    func files() async throws(PipelineError) -> [RecorderReport.File] {
        let limit = limits.stallTimeout
        guard await untilDone(stallTimeout: limit) else {
            progress.update { $0.current }?.abandon()
            throw .stuck(names.path, limit)
        }
        if let failure = progress.failure { throw failure }
        let files = progress.update { $0.files }
        guard !files.isEmpty else { throw .nothingRecorded(names.path, offered: 0, dropped: nil) }
        return files
    }

    /// Gives the file the marks that are earlier than a time; all of them if it is `nil`. A ring
    /// does not remove a file with a mark: it gets a `.keep` file.
    func placeMarks(before time: MediaTime?) {
        guard let file else { return }
        while let first = marks.first, time.map({ first.time < $0 }) ?? true {
            marks.removeFirst()
            let mark = file.add(first.name, at: first.time)
            log { $0.add(first.name, at: file.zero + MediaTime(mark.time), in: file) }
            if limits.segments?.keep != nil { protect(file.path) }
            notify(.marked(path: file.path, mark))
        }
    }

    // MARK: Protected files

    private func protect(_ path: String) {
        guard access("\(path).keep", F_OK) != 0 else { return }
        let descriptor = open("\(path).keep", O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        let error = PipelineError(
            .resourceFailed,
            message: "cannot create \"\(path).keep\", which protects a file with a mark: "
                + systemErrorText(), advice: "copy \"\(path)\" before the ring removes it")
        if progress.fail(error) { notify(.failed(error)) }
    }
}

// MARK: - Segments

/// Decides where a file of a recording ends and the next begins.
struct SegmentLimit {
    private var limits: RecordingSegments?
    /// When the file is to end; `nil` if its duration is not limited.
    private(set) var end: MediaTime?
    private var bytes = 0
    /// Bytes since the last unit that a file could have begun with.
    private var group = 0
    private var largestGroup = 0

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - unit: The unit that it begins with.
    ///   - timeline: Has the wall-clock time of the unit.
    mutating func begin(
        at unit: EncodedUnit, _ limits: RecordingSegments?, _ timeline: RecordingTimeline
    ) {
        self.limits = limits
        bytes = 0
        group = 0
        end = limits?.end(ofFileAt: unit.time, early: unit.slack, timeline)
    }

    mutating func add(_ unit: EncodedUnit) {
        bytes += unit.byteCount
        if unit.isKey, unit.kind == .video { group = 0 }
        group += unit.byteCount
        largestGroup = max(largestGroup, group)
    }

    /// Returns whether a new file should begin with `unit`, a unit that it could begin with.
    func isReached(at unit: EncodedUnit) -> Bool {
        if let end, unit.time + unit.slack >= end { return true }
        guard let size = limits?.bytes else { return false }
        // The next group of pictures must fit as well, because it cannot be divided.
        return bytes + largestGroup > size
    }
}

extension EncodedUnit {
    /// How much earlier than a time the unit may be and still count as on time, because times are
    /// rounded: half its duration.
    var slack: MediaTime { MediaTime(nanoseconds: (duration?.nanoseconds ?? 0) / 2) }
}

extension RecordingSegments {
    /// Returns when a file ends that begins at a time of the recorder; `nil` if its duration is not
    /// limited.
    ///
    /// - Parameter early: How much before the end of a period the file may begin and yet belong to
    ///   the next one.
    func end(
        ofFileAt begin: MediaTime, early: MediaTime, _ timeline: RecordingTimeline
    ) -> MediaTime? {
        guard let length = length.map({ MediaTime($0) }) else { return nil }
        guard isAligned, length > .zero else { return begin + length }
        let wallTime = timeline.wallTime(of: begin)
        let local =
            wallTime + timeline.wallClock.secondsAheadOfUTC(at: wallTime) * 1_000_000_000
        let rest = (local + early.nanoseconds) % length.nanoseconds
        let since = rest < 0 ? rest + length.nanoseconds : rest
        return begin + length + early - MediaTime(nanoseconds: since)
    }
}
