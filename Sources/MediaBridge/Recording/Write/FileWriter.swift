internal import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// Writes encoded frames into one file after another: claims each file, feeds its muxer, watches the disk, completes
/// the file and reads it back. When a file begins and ends, ``RecordingCourse`` decides.
///
/// `@unchecked Sendable`: all mutable state is used only on the queue passed to the initializer.
final class FileWriter: @unchecked Sendable {
    let limits: WritingLimits
    let container: RecordingContainer
    let names: RecordingNames
    let timeline: RecordingTimeline
    let queue: SerialQueue
    let clock: any Timeline
    let progress: RecordingProgress
    let notify: @Sendable (RecorderEvent) -> Void
    /// Called when nothing more can be recorded, on any thread; closes the streams. Set it before
    /// the first unit.
    var onEnding: @Sendable () -> Void = {}
    /// Returns, out of turn, the next unit of a stream for which the muxer waits, if it belongs to the file.
    var takeEarly: (RecordedStream, RecordingFile) -> EncodedUnit? = { _, _ in nil }

    private(set) var file: RecordingFile?
    /// Whether a unit could not be written, because the recording has failed.
    private(set) var hasFailed = false
    /// The first file, if it has been created already.
    var claimed: ClaimedFile?
    private var fileIndex = 0
    /// The number of names that were used, or belong to existing files.
    private var nameIndex = 0
    /// Removes old files; `nil` if all are kept.
    let ring: RecordingRing?
    private var segment = SegmentLimit()
    /// The units that a file begins with, while they are written to it.
    private var opening: ArraySlice<EncodedUnit> = []
    /// The marks that are not earlier than the last unit.
    private var marks: [(name: String, time: MediaTime, isKept: Bool)] = []
    /// Gets a line for each unit; `nil` if nothing does.
    var frameLog: FrameLog?
    /// The tags of the streams, written to every file.
    private(set) var tags: [RecordedStream: Tags] = [:]
    private var guardian: DiskGuard
    /// The number of files that are being completed.
    private var closing = 0
    /// Whether no file follows.
    private var isOver = false
    let done = Latch()
    /// Opened when all files that are being completed are complete.
    private var completing: [Latch] = []
    private let holder = GStreamer.Holder()

    /// How long a muxer may take no unit while a queue is full.
    private static let starvation = Duration.seconds(2).asDefaultDeadline

    init(
        names: RecordingNames, container: RecordingContainer, limits: WritingLimits,
        timeline: RecordingTimeline, queue: SerialQueue, clock: any Timeline,
        progress: RecordingProgress, notify: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        self.names = names
        self.limits = limits
        self.timeline = timeline
        self.container = container
        self.queue = queue
        self.clock = clock
        self.progress = progress
        self.notify = notify
        guardian = DiskGuard(
            directory: names.directory, container: container, reserve: limits.reserve)
        ring = limits.segments.flatMap { $0.isRing ? $0 : nil }.map {
            RecordingRing(
                $0, names: names, progress: progress, wallClock: timeline.wallClock, notify: notify)
        }
    }

    func note(_ tags: Tags, of stream: RecordedStream) {
        self.tags[stream] = self.tags[stream]?.merged(with: tags) ?? tags
        file?.take(tags, of: stream)
    }

    /// Whether the file's limits end it before a unit that a file could begin with.
    func isReached(at unit: EncodedUnit) -> Bool { segment.isReached(at: unit) }

    // MARK: Files

    /// Begins a file, and writes its first units.
    ///
    /// - Parameters:
    ///   - unit: The unit that it begins with, one of `units`.
    ///   - streams: The first unit of each stream; units of other streams are not written.
    func begin(
        at unit: EncodedUnit, with units: [EncodedUnit], _ streams: [RecordedStream: EncodedUnit],
        _ reason: RecorderEvent.Reason
    ) {
        if fileIndex == 0 {
            if names.isNumbered { nameIndex = names.firstFreeIndex }
            ring?.findOlderFiles()
        }
        ring?.trim()
        do throws(PipelineError) {
            while guardian.isShort(of: 0) {
                if ring?.removeOldest() == true {
                    guardian.forget()
                    continue
                }
                return giveUp(units, names.path(at: nameIndex, timeline.wallClock.now()))
            }
            let file = try RecordingFile(
                try claimNextName(unit), index: fileIndex, container: container, first: streams,
                tags: tags, isDurable: limits.isDurable, timeline: timeline)
            let onFailure: @Sendable (PipelineError) -> Void = { [weak self, progress] error in
                // The error must not wait in the queue: the writer notices the failure at its next
                // unit.
                if progress.fail(error) {
                    self?.notify(.failed(error))
                    self?.onEnding()
                }
            }
            file.onFailure(onFailure)
            try file.open()
            if limits.isDurable { file.flushRegularly(clock, onFailure) }
            file.watchPlace(clock, onFailure)
            self.file = file
            guardian.begin(fileIndex, hasPictures: streams[.video] != nil)
            fileIndex += 1
            segment.begin(at: unit, limits.segments, timeline)
            progress.update {
                $0.current = file
                $0.unfinished.append(file)
                $0.begun += 1
            }
            notify(.fileStarted(path: file.path, reason))
            if file.losesOrientation { notify(.orientationLost(path: file.path)) }
        } catch {
            fail(error)
            drop(units)
            return
        }
        opening = units.filter { streams[$0.stream] != nil }[...]
        while let next = opening.popFirst() { write(next) }
    }

    /// Claims the file of the next name, for a file that begins with `unit`. Numbers continue after
    /// those of existing files.
    private func claimNextName(_ unit: EncodedUnit) throws(PipelineError) -> ClaimedFile {
        if let claimed = claimed.take() {
            nameIndex += 1
            return claimed
        }
        if names.isDated { nameIndex = 0 }
        // A picture that is up to half its duration early counts as on time.
        let time = timeline.wallTime(of: unit.time + unit.slack)
        while true {
            let isPlain = nameIndex == 0 && !names.isNumbered && !names.isDated
            let path = names.path(at: nameIndex, time)
            nameIndex += 1
            try names.createDirectory(of: path)
            ring?.begin(path)
            let overwrites = isPlain && limits.whenExists == .overwrite
            if let file = try ClaimedFile(path, mustBeNew: !overwrites) { return file }
            ring?.disown(path)
            if isPlain, limits.whenExists == .fail { throw .exists(path) }
        }
    }

    /// Called if the disk is too full for another file.
    private func giveUp(_ units: [EncodedUnit], _ path: String) {
        if fileIndex == 0 { fail(.tooFull(guardian.free, path)) } else { end(guardian.free) }
        drop(units)
    }

    /// Drops these units and all that follow.
    private func drop(_ units: [EncodedUnit]) {
        hasFailed = true
        for unit in units { progress.drop(unit, .unwritten) }
    }

    /// Ends the recording because the disk is nearly full: sends the event first, then completes
    /// the file.
    private func end(_ free: Int) {
        guard progress.update({ $0.ended == nil }) else { return }
        progress.end(.diskNearlyFull)
        notify(.diskNearlyFull(free: free))
        onEnding()
    }

    /// Writes to the log of frames. The recording goes on if that fails: a warning is sent once, and missing
    /// lines are counted.
    func log(_ body: (FrameLog) -> Void) {
        guard let frameLog else { return }
        let before = frameLog.missing
        body(frameLog)
        guard frameLog.missing > before else { return }
        progress.update { $0.missingLines = frameLog.missing }
        if before == 0, let failure = frameLog.failure { notify(.warning(failure)) }
    }

    func fail(_ error: PipelineError) {
        guard progress.fail(error) else { return }
        notify(.failed(error))
        onEnding()
    }
}

// MARK: - Feeding the muxer

/// Thread: the writer's queue.
extension FileWriter {
    /// Writes a unit into the file. Blocks while the disk is slow.
    func write(_ unit: EncodedUnit) {
        guard let file else { return progress.drop(unit, .unwritten) }
        feed(file, beside: unit.stream)
        // The muxer may take the last unit of another stream, and wait for the next one, while this
        // one's queue is full already.
        while file.isFull(unit.stream) {
            let moves = file.waitForMovement(for: Self.starvation)
            feed(file, beside: unit.stream)
            // The muxer does not take units in the order of their times.
            if !moves { file.lacking(beside: unit.stream).forEach { file.end($0) } }
        }
        push(unit, to: file)
    }

    /// Gives the muxer the units that it waits for while those of `stream` fill its queue; otherwise
    /// it would wait forever, and nothing would be written. A stream that has no unit, or none for
    /// this file, is ended in this file.
    private func feed(_ file: RecordingFile, beside stream: RecordedStream) {
        for lacking in file.starving(beside: stream) {
            if let unit = takeOpening(lacking) ?? takeEarly(lacking, file) {
                push(unit, to: file)
            } else {
                file.end(lacking)
            }
        }
    }

    private func takeOpening(_ stream: RecordedStream) -> EncodedUnit? {
        opening.firstIndex { $0.stream == stream }.map { opening.remove(at: $0) }
    }

    private func push(_ unit: EncodedUnit, to file: RecordingFile) {
        guard file.push(unit) else {
            progress.drop(unit, .unwritten)
            if progress.failure != nil { hasFailed = true }
            return
        }
        log { $0.add(unit, to: file) }
        segment.add(unit)
        guardian.add(unit)
        progress.update { $0.moved += 1 }
        if guardian.isShort(of: unit.byteCount) {
            if ring?.removeOldest() == true { guardian.forget() } else { end(guardian.free) }
        }
        if let least = limits.segments?.keepFree, guardian.isFound(below: least) { ring?.trim() }
    }
}

// MARK: - The end of files

/// Completes files, reports them, and removes old ones. Thread: the writer's queue.
extension FileWriter {
    /// Completes the file, concurrently with the next one.
    func completeFile() {
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
            for stream in file.streams { state.written[stream, default: 0] += file.written(stream) }
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

    /// Ends the recording: places all marks, and completes the file.
    ///
    /// - Parameters:
    ///   - latch: Opened when all files are complete.
    ///   - isLast: Whether no recording follows.
    func end(opening latch: Latch?, isLast: Bool) {
        isOver = isOver || isLast
        if let latch { completing.append(latch) }
        placeMarks(before: nil)
        completeFile()
        finishIfDone()
    }

    private func finishIfDone() {
        guard closing == 0 else { return }
        completing.forEach { $0.open() }
        completing = []
        if isOver { done.open() }
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
    func files() async throws(PipelineError) -> [RecordedFile] {
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

    /// Marks a time of the recorder.
    ///
    /// - Parameter isKept: Whether a ring does not remove the file: it gets a `.keep` file.
    func mark(_ name: String, at time: MediaTime, isKept: Bool = true) {
        let place = marks.firstIndex { time < $0.time } ?? marks.count
        marks.insert((name, time, isKept), at: place)
    }

    /// Gives the file the marks that are earlier than a time; all of them if it is `nil`.
    func placeMarks(before time: MediaTime?) {
        guard let file else { return }
        while let first = marks.first, time.map({ first.time < $0 }) ?? true {
            marks.removeFirst()
            let mark = file.add(first.name, at: first.time)
            log { $0.add(first.name, at: file.zero + MediaTime(mark.time), in: file) }
            if first.isKept, limits.segments?.isRing == true { protect(file.path) }
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
