internal import MediaBasics

/// The course of a recording: keeps the pre-roll and what replays need, decides which unit begins and ends a file, and
/// ends one recording before the next. It passes the units to a ``FileWriter``.
///
/// `@unchecked Sendable`: all mutable state is used only on the writer's queue.
final class RecordingCourse: @unchecked Sendable {
    let streams: [RecordedStream]
    let writer: FileWriter
    var progress: RecordingProgress { writer.progress }

    enum Phase { case keeping, recording, failed, done }
    var phase = Phase.keeping
    var interleaver: Interleaver
    /// The pre-roll; of a recording around events, all units that are not decided on.
    var preRoll: RecentUnits
    /// What detectors want in files; `nil` if everything is recorded.
    var wanted: WantedTimes?
    /// Whether the first of the ranges that are wanted is being written.
    var isInEvent = false
    /// The time of the last frame before ``Recorder/start()``, while the encoder has not delivered it.
    var startMark: MediaTime?
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
    private var missing: Set<RecordedStream> = []
    /// Where the recording ends while the streams continue.
    var cut: RecordingCut?

    /// How long a file waits for a stream without data.
    private static let startWait = MediaTime(nanoseconds: 2_000_000_000)
    /// The maximum number of bytes of audio that is held while there is no video.
    private static let leadLimit = 32_000_000

    /// - Parameter streams: The leading one first.
    init(_ streams: [RecordedStream], _ writer: FileWriter) {
        self.streams = streams
        self.writer = writer
        let limits = writer.limits
        interleaver = Interleaver(streams)
        preRoll = RecentUnits(
            length: limits.preRoll.map { MediaTime($0) } ?? .zero, leader: streams[0],
            memory: limits.events == nil ? .max : limits.replayMemory)
        wanted = limits.events.map { WantedTimes($0) }
        replay = limits.replay.map { length in
            RecentUnits(length: MediaTime(length), leader: streams[0], memory: limits.replayMemory)
        }
        writer.takeEarly = { [unowned self] in takeEarly($0, for: $1) }
    }

    // MARK: On the queue

    func handle(_ items: [RecordingInbox.Item]) {
        for item in items {
            switch item {
            case .began(let stream, let generation):
                interleaver.begin(stream, generation: generation)
            case .unit(let unit, let generation): interleaver.add(unit, generation: generation)
            case .ended(let stream, let generation, let error):
                interleaver.end(stream, generation: generation)
                if let error { writer.fail(error) }
            case .trackEnded(let stream): interleaver.endTrack(stream)
            case .live: interleaver.maximumWait = Self.startWait
            case .event(let event): if progress.failure == nil { writer.notify(event) }
            case .failed(let error): writer.fail(error)
            case .tags(let stream, let tags): writer.note(tags, of: stream)
            case .start(let mark): afterPump { start(at: mark) }
            case .mark(let name, let time): writer.mark(name, at: time)
            case .split(let time): splits.append(time)
            case .state(let detector, let isPresent, let begins, let time):
                if begins, isArmed { writer.mark(detector, at: time, isKept: false) }
                decide { $0.note(detector, isPresent: isPresent, at: time) }
            case .stateEnded(let detector, let hasFailed):
                decide { $0.end(detector, hasFailed: hasFailed) }
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

    func start() {
        startMark = nil
        phase = .recording
        if wanted == nil { write(preRoll.takeAll()) } else { settle() }
        pump()
    }

    /// Writes units that were kept.
    func write(_ units: [Interleaver.Released]) {
        upcoming = units[...]
        while let released = upcoming.popFirst() { route(released) }
    }

    func pump() {
        while let released = interleaver.next(now: writer.clock.now) {
            remember(released)
            if released.unit.stream == streams[0] { reached = released.unit.time }
            for stream in streams where interleaver.isSilent(stream) { writer.file?.end(stream) }
            if interleaver.arePicturesLost { writer.file?.end(.video) }
            take(released)
            if let startMark, let reached, reached >= startMark { start() }
        }
        if let cut, cut.isReached(by: interleaver) { endCut() }
        if interleaver.isOver { complete() }
    }

    private func take(_ released: Interleaver.Released) {
        switch phase {
        case .recording where wanted != nil: hold(released)
        case .recording where cut?.isBehind(released.unit) == true: keep(released)
        case .keeping: keep(released)
        case .recording: route(released)
        case .failed, .done: progress.drop(released.unit, .unwritten)
        }
    }

    /// Keeps a unit for replays, independently of its use in the recording.
    func remember(_ released: Interleaver.Released) {
        guard var recent = replay.take() else { return }
        _ = recent.keep(released)
        let (span, cost) = (recent.span, recent.cost)
        replay = recent
        progress.update { $0.replay = (duration: span.duration, bytes: cost) }
    }

    /// Returns the last units that are kept for replays.
    func lastUnits(_ length: MediaTime) -> [Interleaver.Released] { replay?.last(length) ?? [] }

    private func keep(_ released: Interleaver.Released) {
        for old in preRoll.keep(released) { progress.drop(old, .early) }
    }

    /// Drops audio that waits for a first picture.
    func dropLead() {
        for unit in lead { progress.drop(unit, .early) }
        lead = []
        leadCost = 0
    }

    private func complete() {
        guard phase != .done else { return }
        if startMark != nil { return start() }
        settleAll()
        for kept in preRoll.takeAll() {
            progress.drop(kept.unit, phase == .keeping ? .early : .unwritten)
        }
        if phase == .recording, writer.file == nil, let first = lead.first {
            // Only audio came, and it ended before any picture.
            begin(with: Interleaver.Released(unit: first, generation: 0), .started)
        }
        phase = .done
        writer.end(opening: cut?.done, isLast: true)
    }

    // MARK: Files

    func route(_ released: Interleaver.Released) {
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
        guard file.streams.contains(unit.stream), !file.hasEnded(unit.stream) else {
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
        if unit.stream == streams[0] { return true }
        let leads = interleaver.isOver(streams[0]) && !isKept(streams[0])
        let since = lead.first.map { unit.time - $0.time } ?? .zero
        return leads || (interleaver.maximumWait != nil && since > Self.startWait)
            || leadCost > Self.leadLimit
    }

    /// Whether a unit of a stream waits in memory to be written.
    private func isKept(_ stream: RecordedStream) -> Bool {
        upcoming.contains { $0.unit.stream == stream } || preRoll.first(stream) != nil
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
        let leads = unit.kind == .video || !file.streams.contains(.video)
        guard leads else { return nil }
        if unit.kind == .video, released.generation != fileGeneration {
            return file.streams.contains(.video) ? .formatChanged : .streamAppeared
        }
        if file.streams.contains(unit.stream) {
            if !file.holds(unit) { return .formatChanged }
            // The stream timed out earlier and has resumed. A stream that a failure ended does not resume.
            if file.hasEnded(unit.stream), progress.failure == nil { return .streamAppeared }
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
        var opening: [RecordedStream: EncodedUnit] = [:]
        for stream in streams {
            let next =
                units.first { $0.stream == stream }
                ?? upcoming.first { $0.unit.stream == stream }?.unit ?? preRoll.first(stream)
                ?? interleaver.peek(stream)
            if let next {
                opening[stream] = next
            } else if !interleaver.isOver(stream), missing.insert(stream).inserted {
                writer.notify(.streamMissing(stream.name))
            }
        }
        if unit.kind == .video { fileGeneration = released.generation }
        writer.begin(at: unit, with: units, opening, reason)
        noteFailure()
    }

    /// Removes and returns the next unit of a stream out of order, if it belongs to this file.
    private func takeEarly(_ stream: RecordedStream, for file: RecordingFile) -> EncodedUnit? {
        func belongs(_ unit: EncodedUnit) -> Bool {
            file.holds(unit) && !writer.isReached(at: unit) && wantsNewFile == nil
                && !isSplit(before: unit) && cut?.isBehind(unit) != true && isDecided(unit)
        }
        if let place = upcoming.firstIndex(where: { $0.unit.stream == stream }) {
            guard belongs(upcoming[place].unit) else { return nil }
            return upcoming.remove(at: place).unit
        }
        guard preRoll.first(stream) == nil, let unit = interleaver.peek(stream), belongs(unit)
        else { return nil }
        guard let released = interleaver.take(early: stream) else { return nil }
        remember(released)
        return released.unit
    }
}
