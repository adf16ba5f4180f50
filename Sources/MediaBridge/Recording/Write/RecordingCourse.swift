internal import MediaBasics

/// The course of a recording: keeps the pre-roll and what replays need, decides which unit begins and ends a file, and
/// ends one recording before the next. It passes the units to a ``FileWriter``.
///
/// `@unchecked Sendable`: all mutable state is used only on the writer's queue.
final class RecordingCourse: @unchecked Sendable {
    let kinds: [MediaKind]
    let writer: FileWriter
    private var progress: RecordingProgress { writer.progress }

    private enum Phase { case keeping, recording, failed, done }
    private var phase = Phase.keeping
    private(set) var interleaver: Interleaver
    private var preRoll: RecentUnits
    /// The time of the last frame before ``Recorder/start()``, while the encoder has not delivered it.
    private var startMark: MediaTime?
    /// The time of the newest unit of the leading stream.
    private var reached: MediaTime?
    /// What is kept for replays; `nil` if nothing is.
    private var replay: RecentUnits?
    /// The encoder of the pictures in the file.
    private var fileGeneration = 0
    private var wantsNewFile: RecorderEvent.Reason?
    /// Where ``Recorder/split()`` ends files.
    private var splits: [MediaTime] = []
    /// Audio that arrived before the first picture, and the memory it occupies in bytes.
    private var lead: [EncodedUnit] = []
    private var leadCost = 0
    /// The units of the pre-roll, while they are written to the file.
    private var upcoming: ArraySlice<Interleaver.Released> = []
    private var missing: Set<MediaKind> = []
    /// Where the recording ends while the streams continue.
    private var cut: RecordingCut?

    /// How long a file waits for a stream without data.
    private static let startWait = MediaTime(nanoseconds: 2_000_000_000)
    /// The maximum number of bytes of audio that is held while there is no video.
    private static let leadLimit = 32_000_000

    /// - Parameter kinds: The kinds of the streams, the leading one first.
    init(_ kinds: [MediaKind], _ writer: FileWriter) {
        self.kinds = kinds
        self.writer = writer
        let limits = writer.limits
        interleaver = Interleaver(kinds)
        preRoll = RecentUnits(
            length: limits.preRoll.map { MediaTime($0) } ?? .zero, leader: kinds[0])
        replay = limits.replay.map { length in
            RecentUnits(length: MediaTime(length), leader: kinds[0], memory: limits.replayMemory)
        }
        writer.takeEarly = { [unowned self] in takeEarly($0, for: $1) }
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
                if let error { writer.fail(error) }
            case .trackEnded(let kind): interleaver.endTrack(kind)
            case .live: interleaver.maximumWait = Self.startWait
            case .keyFrameAwaited: if progress.failure == nil { writer.notify(.keyFrameAwaited) }
            case .failed(let error): writer.fail(error)
            case .tags(let kind, let tags): writer.note(tags, of: kind)
            case .start(let mark): afterPump { start(at: mark) }
            case .mark(let name, let time): writer.mark(name, at: time)
            case .split(let time): splits.append(time)
            case .cut(let cut): afterPump { begin(cut) }
            case .endCut: afterPump { endCut() }
            case .flush: afterPump { interleaver.flush() }
            }
        }
        pump()
    }

    /// Processes all earlier units before a request.
    private func afterPump(_ body: () -> Void) {
        pump()
        body()
    }

    /// Begins the file with the pre-roll once all units up to `mark` have arrived: an encoder that is
    /// behind would otherwise make the pre-roll longer.
    private func start(at mark: MediaTime?) {
        guard phase == .keeping else { return }
        startMark = mark
        if mark.map({ reached ?? .zero >= $0 }) ?? true { start() }
    }

    private func start() {
        startMark = nil
        phase = .recording
        upcoming = preRoll.takeAll()[...]
        while let released = upcoming.popFirst() { take(released) }
        pump()
    }

    private func pump() {
        while let released = interleaver.next(now: writer.clock.now) {
            remember(released)
            if released.unit.kind == kinds[0] { reached = released.unit.time }
            if interleaver.isSoundSilent { writer.file?.end(.audio) }
            if interleaver.arePicturesLost { writer.file?.end(.video) }
            take(released)
            if let startMark, let reached, reached >= startMark { start() }
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

    /// Returns the last units that are kept for replays.
    func lastUnits(_ length: MediaTime) -> [Interleaver.Released] { replay?.last(length) ?? [] }

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
        if startMark != nil { return start() }
        if phase == .keeping {
            for kept in preRoll.takeAll() { progress.drop(kept.unit, .early) }
        }
        if phase == .recording, writer.file == nil, let first = lead.first {
            // Only audio came, and it ended before any picture.
            begin(with: Interleaver.Released(unit: first, generation: 0), .started)
        }
        phase = .done
        writer.end(opening: cut?.done, isLast: true)
    }

    // MARK: Files

    private func route(_ released: Interleaver.Released) {
        let unit = released.unit
        // No other file begins after one that failed: it would fail too.
        if writer.file?.hasFailed == true { phase = .failed }
        guard phase == .recording else { return progress.drop(unit, .unwritten) }
        guard let file = writer.file else {
            if mayBegin(with: unit) {
                begin(with: released, .started)
            } else {
                wait(with: unit)
            }
            return
        }
        writer.placeMarks(before: unit.time)
        if let reason = reasonForNewFile(at: released, file) {
            writer.completeFile()
            begin(with: released, reason)
            return
        }
        guard file.kinds.contains(unit.kind), !file.hasEnded(unit.kind) else {
            wantsNewFile = .streamAppeared
            return progress.drop(unit, .late)
        }
        guard file.holds(unit) else {
            wantsNewFile = .formatChanged
            return progress.drop(unit, .late)
        }
        writer.write(unit)
        noteFailure()
    }

    /// Notes that the writer has failed: nothing more is written.
    private func noteFailure() {
        if writer.hasFailed, phase == .recording { phase = .failed }
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

    private func reasonForNewFile(
        at released: Interleaver.Released, _ file: RecordingFile
    ) -> RecorderEvent.Reason? {
        let unit = released.unit
        guard unit.isKey else { return nil }
        let leads = unit.kind == .video || !file.kinds.contains(.video)
        guard leads else { return nil }
        if unit.kind == .video, released.generation != fileGeneration {
            return file.kinds.contains(.video) ? .formatChanged : .streamAppeared
        }
        if file.kinds.contains(unit.kind) {
            if !file.holds(unit) { return .formatChanged }
            // The stream timed out earlier and has resumed. A stream that a failure ended does not resume.
            if file.hasEnded(unit.kind), progress.failure == nil { return .streamAppeared }
        }
        if let wantsNewFile { return wantsNewFile }
        if isSplit(before: unit) { return .segment }
        return writer.isReached(at: unit) ? .segment : nil
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
                writer.notify(.streamMissing(kind.rawValue))
            }
        }
        if unit.kind == .video { fileGeneration = released.generation }
        writer.begin(at: unit, with: units, streams, reason)
        noteFailure()
    }

    /// Removes and returns the next unit of a stream out of order, if it belongs to this file.
    private func takeEarly(_ kind: MediaKind, for file: RecordingFile) -> EncodedUnit? {
        func belongs(_ unit: EncodedUnit) -> Bool {
            file.holds(unit) && !writer.isReached(at: unit) && wantsNewFile == nil
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
}

// MARK: - The boundary between recordings

/// Thread: the writer's queue.
extension RecordingCourse {
    private func begin(_ cut: RecordingCut) {
        guard phase == .recording || startMark != nil else { return cut.done.open() }
        self.cut = cut
        pump()
    }

    /// Ends the file at the cut, after the units before it have arrived or are not waited for any
    /// more. Later units go to the pre-roll again.
    private func endCut() {
        if startMark != nil { start() }
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
        dropLead()
        if phase == .recording { phase = .keeping }
        writer.end(opening: cut.done, isLast: false)
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
