internal import MediaBasics
internal import Synchronization

/// Writes encoded units to files: keeps the pre-roll, begins and ends files, checks the disk.
///
/// `@unchecked Sendable`: all mutable state is used only on the queue passed to the initializer.
final class RecordingWriter: @unchecked Sendable {
    let limits: WritingLimits
    let container: RecordingContainer
    let kinds: [MediaKind]
    let names: RecordingNames
    let timeline: RecordingTimeline
    let queue: SerialQueue
    let clock: any Timeline
    let progress: RecordingProgress
    let notify: @Sendable (RecorderEvent) -> Void
    /// Called when nothing more can be recorded, on any thread; closes the streams. Set it before
    /// the first unit.
    var onEnding: @Sendable () -> Void = {}

    enum Phase { case keeping, recording, failed, done }
    var phase: Phase
    var interleaver: Interleaver
    private var preRoll: RecentUnits
    /// The time of the last frame before ``Recorder/start()``, while the encoder has not delivered it.
    private var call: MediaTime?
    /// The time of the newest unit of the leading stream.
    private var reached: MediaTime?
    /// What is kept for replays; `nil` if nothing is.
    var replay: RecentUnits?
    var file: RecordingFile?
    /// The first file, if it has been created already.
    var claimed: ClaimedFile?
    private var fileGeneration = 0
    var fileIndex = 0
    /// The number of names that were used, or belong to existing files.
    var nameIndex = 0
    /// Removes old files; `nil` if all are kept.
    let ring: RecordingRing?
    private var segment = SegmentLimit()
    private var wantsNewFile: RecorderEvent.Reason?
    /// Where ``Recorder/split()`` ends files.
    private var splits: [MediaTime] = []
    /// The marks that are not earlier than the last unit.
    var marks: [(name: String, time: MediaTime)] = []
    /// Audio that arrived before the first picture, and the memory it occupies in bytes.
    private var lead: [EncodedUnit] = []
    private var leadCost = 0
    /// The units that a file begins with, while they are written to it.
    private var opening: ArraySlice<EncodedUnit> = []
    /// The units of the pre-roll, while they are written to the file.
    private var upcoming: ArraySlice<Interleaver.Released> = []
    private var missing: Set<MediaKind> = []
    /// Gets a line for each unit; `nil` if nothing does.
    var frameLog: FrameLog?
    /// The tags of the streams, written to every file.
    var tags: [MediaKind: Tags] = [:]
    var guardian: DiskGuard
    var closing = 0
    let done = Latch()
    /// Where the recording ends while the streams continue.
    private var cut: RecordingCut?
    /// Opened when all files that are being completed are complete.
    var completing: Latch?
    private let holder = GStreamer.Holder()

    /// How long a file waits for a stream without data.
    private static let startWait = MediaTime(nanoseconds: 2_000_000_000)
    /// How long a muxer may take no unit while a queue is full.
    private static let starvation = Duration.seconds(2)
    /// The maximum number of bytes of audio that is held while there is no video.
    private static let leadLimit = 32_000_000

    init(
        names: RecordingNames, container: RecordingContainer, kinds: [MediaKind],
        limits: WritingLimits, timeline: RecordingTimeline, queue: SerialQueue,
        clock: any Timeline, progress: RecordingProgress,
        notify: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        self.names = names
        self.limits = limits
        self.timeline = timeline
        self.container = container
        self.kinds = kinds
        self.queue = queue
        self.clock = clock
        self.progress = progress
        self.notify = notify
        interleaver = Interleaver(kinds)
        guardian = DiskGuard(
            directory: names.directory, container: container, reserve: limits.reserve)
        ring = limits.segments?.keep.map {
            RecordingRing(
                $0, names: names, progress: progress, wallClock: timeline.wallClock, notify: notify)
        }
        phase = .keeping
        preRoll = RecentUnits(
            length: limits.preRoll.map { MediaTime($0) } ?? .zero, leader: kinds[0])
        replay = limits.replay.map { length in
            RecentUnits(
                length: MediaTime(length), leader: kinds[0], memory: limits.replayMemory)
        }
    }

    // MARK: On the queue

    func handle(_ items: [RecordingInbox.Item]) {
        for item in items {
            switch item {
            case .began(let kind, let generation):
                interleaver.begin(kind, generation: generation)
            case .unit(let unit, let generation): interleaver.add(unit, generation: generation)
            case .ended(let kind, let generation, let error):
                interleaver.end(kind, generation: generation)
                if let error { fail(error) }
            case .trackEnded(let kind): interleaver.endTrack(kind)
            case .live: interleaver.maximumWait = Self.startWait
            case .keyFrameAwaited: if progress.failure == nil { notify(.keyFrameAwaited) }
            case .failed(let error): fail(error)
            case .tags(let kind, let tags): note(tags, of: kind)
            case .start(let call): afterPump { start(at: call) }
            case .mark(let name, let time): marks.append((name, time))
            case .split(let time): splits.append(time)
            case .cut(let cut): afterPump { begin(cut) }
            case .endCut: afterPump { endCut() }
            case .flush: afterPump { interleaver.flush() }
            }
        }
        pump()
    }

    private func note(_ tags: Tags, of kind: MediaKind) {
        self.tags[kind] = self.tags[kind]?.merged(with: tags) ?? tags
        file?.take(tags, of: kind)
    }

    /// Processes all earlier units before a request.
    private func afterPump(_ body: () -> Void) {
        pump()
        body()
    }

    /// Begins the file with the pre-roll once all units up to `call` have arrived: an encoder that is
    /// behind would otherwise make the pre-roll longer.
    private func start(at call: MediaTime?) {
        guard phase == .keeping else { return }
        self.call = call
        if call.map({ reached ?? .zero >= $0 }) ?? true { start() }
    }

    private func start() {
        call = nil
        phase = .recording
        upcoming = preRoll.takeAll()[...]
        while let released = upcoming.popFirst() { take(released) }
        pump()
    }

    private func pump() {
        while let released = interleaver.next(now: clock.now) {
            remember(released)
            if released.unit.kind == kinds[0] { reached = released.unit.time }
            if interleaver.isSoundSilent { file?.end(.audio) }
            if interleaver.arePicturesLost { file?.end(.video) }
            take(released)
            if let call, let reached, reached >= call { start() }
        }
        if let cut, cut.isReached(by: interleaver) { endCut() }
        if interleaver.isOver { complete() }
    }

    private func take(_ released: Interleaver.Released) {
        switch phase {
        case .recording where cut?.isBehind(released.unit) == true: keep(released)
        case .keeping: keep(released)
        case .recording: route(released)
        case .failed, .done: progress.drop(released.unit, .unwritten)
        }
    }

    /// Keeps a unit for replays, independently of its use in the recording.
    private func remember(_ released: Interleaver.Released) {
        guard var recent = replay.take() else { return }
        _ = recent.keep(released)
        let (span, cost) = (recent.span, recent.cost)
        replay = recent
        progress.update { $0.replay = RecorderReport.Replay(duration: span.duration, bytes: cost) }
    }

    private func keep(_ released: Interleaver.Released) {
        for old in preRoll.keep(released) { progress.drop(old, .early) }
    }

    /// Drops audio that waits for a first picture.
    private func dropLead() {
        for unit in lead { progress.drop(unit, .early) }
        lead = []
        leadCost = 0
    }

    private func complete() {
        guard phase != .done else { return }
        if call != nil { return start() }
        if phase == .keeping {
            for kept in preRoll.takeAll() { progress.drop(kept.unit, .early) }
        }
        if phase == .recording, file == nil, let first = lead.first {
            // Only audio came, and it ended before any picture.
            begin(with: Interleaver.Released(unit: first, generation: 0), .started)
        }
        phase = .done
        completing = completing ?? cut?.done
        placeMarks(before: nil)
        closeFile()
        finishIfDone()
    }

    // MARK: Files

    private func route(_ released: Interleaver.Released) {
        let unit = released.unit
        // No other file begins after one that failed: it would fail too.
        if file?.hasFailed == true { phase = .failed }
        guard phase == .recording else { return progress.drop(unit, .unwritten) }
        guard file != nil else {
            if mayBegin(with: unit) {
                begin(with: released, .started)
            } else {
                wait(with: unit)
            }
            return
        }
        placeMarks(before: unit.time)
        if let reason = reasonForNewFile(at: released) {
            closeFile()
            begin(with: released, reason)
            return
        }
        guard let file, file.kinds.contains(unit.kind), !file.isGone(unit.kind) else {
            wantsNewFile = .streamAppeared
            return progress.drop(unit, .late)
        }
        guard file.holds(unit) else {
            wantsNewFile = .formatChanged
            return progress.drop(unit, .late)
        }
        write(unit)
    }

    private func mayBegin(with unit: EncodedUnit) -> Bool {
        guard unit.isKey else { return false }
        if unit.kind == kinds[0] { return true }
        let leads = interleaver.isOver(kinds[0])
        let since = lead.first.map { unit.time - $0.time } ?? .zero
        return leads || (interleaver.maximumWait != nil && since > Self.startWait)
            || leadCost > Self.leadLimit
    }

    /// Keeps audio that comes before the first picture, within the memory limit. A file's audio is
    /// written completely; of a live capture, audio that ends before the first picture is dropped.
    private func wait(with unit: EncodedUnit) {
        guard unit.kind == .audio else { return progress.drop(unit, .early) }
        lead.append(unit)
        leadCost += unit.cost
    }

    private func reasonForNewFile(at released: Interleaver.Released) -> RecorderEvent.Reason? {
        let unit = released.unit
        guard let file, unit.isKey else { return nil }
        let leads = unit.kind == .video || !file.kinds.contains(.video)
        guard leads else { return nil }
        if unit.kind == .video, released.generation != fileGeneration {
            return file.kinds.contains(.video) ? .formatChanged : .streamAppeared
        }
        if file.kinds.contains(unit.kind) {
            if !file.holds(unit) { return .formatChanged }
            // The stream timed out earlier and has resumed. A stream that a failure ended does not resume.
            if file.isGone(unit.kind), progress.failure == nil { return .streamAppeared }
        }
        if let wantsNewFile { return wantsNewFile }
        if isSplit(before: unit) { return .segment }
        return segment.isReached(at: unit) ? .segment : nil
    }

    private func isSplit(before unit: EncodedUnit) -> Bool {
        splits.first.map { $0 < unit.time } ?? false
    }

    private func begin(with released: Interleaver.Released, _ reason: RecorderEvent.Reason) {
        let unit = released.unit
        wantsNewFile = nil
        splits.removeAll { $0 < unit.time }
        var first: [EncodedUnit] = lead
        lead = []
        leadCost = 0
        if interleaver.maximumWait != nil {
            // In a live recording, no audio is heard before the first picture.
            for early in first where unit.kind == .video && early.end <= unit.time {
                progress.drop(early, .early)
            }
            first.removeAll { unit.kind == .video && $0.end <= unit.time }
        }
        // If the file begins with only audio, `first` contains the unit already.
        let units = first.contains { $0 === unit } ? first : first + [unit]
        var streams: [MediaKind: EncodedUnit] = [:]
        for kind in kinds {
            let next =
                units.first { $0.kind == kind }
                ?? upcoming.first { $0.unit.kind == kind }?.unit ?? interleaver.peek(kind)
            if let next {
                streams[kind] = next
            } else if !interleaver.isOver(kind), missing.insert(kind).inserted {
                notify(.streamMissing(kind.rawValue))
            }
        }
        if unit.kind == .video { fileGeneration = released.generation }
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
                try claimNextName(unit), index: fileIndex, container: container, streams: streams,
                tags: tags, isDurable: limits.isDurable, wallTime: timeline.wallTime)
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
        opening = units.filter { streams[$0.kind] != nil }[...]
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
        phase = .failed
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

/// Writes units to the current file. Thread: the writer's queue.
extension RecordingWriter {
    private func write(_ unit: EncodedUnit) {
        guard let file else { return progress.drop(unit, .unwritten) }
        feed(file, beside: unit.kind)
        // The muxer may take the last unit of another stream, and wait for the next one, while this
        // one's queue is full already.
        while file.isFull(unit.kind) {
            let moves = file.waitForMovement(for: Self.starvation)
            feed(file, beside: unit.kind)
            // The muxer does not take units in the order of their times.
            if !moves { file.lacking(beside: unit.kind).forEach { file.end($0) } }
        }
        push(unit, to: file)
    }

    /// Gives the muxer the units that it waits for while those of `kind` fill its queue; otherwise
    /// it would wait forever, and nothing would be written. A stream that has no unit, or none for
    /// this file, is ended in this file.
    private func feed(_ file: RecordingFile, beside kind: MediaKind) {
        for lacking in file.starving(beside: kind) {
            if let unit = takeEarly(lacking, for: file) {
                push(unit, to: file)
            } else {
                file.end(lacking)
            }
        }
    }

    /// Removes and returns the next unit of a stream out of order, if it belongs to this file.
    private func takeEarly(_ kind: MediaKind, for file: RecordingFile) -> EncodedUnit? {
        if let place = opening.firstIndex(where: { $0.kind == kind }) {
            return opening.remove(at: place)
        }
        func belongs(_ unit: EncodedUnit) -> Bool {
            file.holds(unit) && !segment.isReached(at: unit) && wantsNewFile == nil
                && !isSplit(before: unit) && cut?.isBehind(unit) != true
        }
        if let place = upcoming.firstIndex(where: { $0.unit.kind == kind }) {
            guard belongs(upcoming[place].unit) else { return nil }
            return upcoming.remove(at: place).unit
        }
        guard let unit = interleaver.peek(kind), belongs(unit) else { return nil }
        guard let released = interleaver.take(early: kind) else { return nil }
        remember(released)
        return released.unit
    }

    private func push(_ unit: EncodedUnit, to file: RecordingFile) {
        guard file.push(unit) else {
            progress.drop(unit, .unwritten)
            if progress.failure != nil { phase = .failed }
            return
        }
        log { $0.add(unit, to: file) }
        segment.add(unit)
        guardian.add(unit)
        progress.update { $0.moved += 1 }
        if guardian.isShort(of: unit.byteCount) {
            if ring?.removeOldest() == true { guardian.forget() } else { end(guardian.free) }
        }
        if let least = limits.segments?.keep?.free, guardian.isFound(below: least) { ring?.trim() }
    }
}

// MARK: - The boundary between recordings

/// Thread: the writer's queue.
extension RecordingWriter {
    private func begin(_ cut: RecordingCut) {
        guard phase == .recording || call != nil else { return cut.done.open() }
        self.cut = cut
        pump()
    }

    /// Ends the file at the cut, after the units before it have arrived or are not waited for any
    /// more. Later units go to the pre-roll again.
    private func endCut() {
        if call != nil { start() }
        guard let cut, phase == .recording else {
            self.cut?.done.open()
            self.cut = nil
            return
        }
        while let released = interleaver.next(before: cut.times) {
            remember(released)
            route(released)
        }
        self.cut = nil
        placeMarks(before: nil)
        closeFile()
        dropLead()
        if phase == .recording { phase = .keeping }
        completing = cut.done
        finishIfDone()
    }
}

extension RecordingCut {
    /// Returns whether all units before the cut have arrived.
    fileprivate func isReached(by interleaver: Interleaver) -> Bool {
        awaited.allSatisfy { kind, time in
            interleaver.isOver(kind) || interleaver.newest(kind).map { $0 >= time } ?? false
        }
    }
}
