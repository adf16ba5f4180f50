internal import MediaBasics
internal import Synchronization

/// From encoded units to files: keeps the pre-roll, begins and ends files, watches the disk.
///
/// `@unchecked Sendable`: everything mutable is touched on the queue it was made with, alone.
final class RecordingWriter: @unchecked Sendable {
    let limits: WritingLimits
    private let container: RecordingContainer
    private let kinds: [RecordingKind]
    private let names: SegmentNames
    let queue: SerialQueue
    let progress: RecordingProgress
    let tell: @Sendable (RecorderEvent) -> Void
    /// Nothing more is to be recorded: takes the streams off.
    private let onEnding: @Sendable () -> Void

    enum Phase { case keeping, recording, failed, done }
    var phase: Phase
    var interleaver: Interleaver
    private var preRoll: PreRoll
    var file: RecordingFile?
    private var fileGeneration = 0
    private var fileIndex = 0
    var segment = SegmentLimit()
    var wantsNewFile: RecorderEvent.Reason?
    /// Sound that came before the first picture, and what it takes in memory.
    private var lead: [EncodedUnit] = []
    private var leadCost = 0
    /// What a file begins with, and is on its way into it.
    var opening: ArraySlice<EncodedUnit> = []
    /// What was kept and is on its way into the file.
    var upcoming: ArraySlice<Interleaver.Released> = []
    private var missing: Set<RecordingKind> = []
    /// What the streams say of themselves, for every file.
    private var tags: [RecordingKind: Tags] = [:]
    var guardian: DiskGuard
    var closing = 0
    let done = Latch()
    /// Where the recording is to end, and the streams go on.
    var cut: RecordingCut?
    /// Opened when the files that are being completed are complete.
    var completing: Latch?

    /// How long a file waits for a stream that does not come.
    private static let startPatience = MediaTime(nanoseconds: 2_000_000_000)
    /// Bytes of sound that are held for pictures that do not come.
    private static let leadLimit = 32_000_000

    init(
        path: String, container: RecordingContainer, kinds: [RecordingKind],
        limits: WritingLimits, queue: SerialQueue,
        progress: RecordingProgress,
        tell: @escaping @Sendable (RecorderEvent) -> Void,
        onEnding: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.container = container
        self.kinds = kinds
        self.queue = queue
        self.progress = progress
        self.tell = tell
        self.onEnding = onEnding
        names = SegmentNames(path, isNumbered: limits.segments != nil)
        interleaver = Interleaver(kinds)
        guardian = DiskGuard(path: path, container: container, reserve: limits.reserve)
        phase = .keeping
        preRoll = PreRoll(
            length: limits.preRoll.map { MediaTime($0) } ?? .zero, leader: kinds[0])
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
            case .live: interleaver.patience = Self.startPatience
            case .failed(let error): fail(error)
            case .tags(let kind, let tags): note(tags, of: kind)
            case .start: afterPump { start() }
            case .cut(let cut): afterPump { begin(cut) }
            case .endCut: afterPump { endCut() }
            case .flush: afterPump { interleaver.flush() }
            }
        }
        pump()
    }

    private func note(_ tags: Tags, of kind: RecordingKind) {
        self.tags[kind] = self.tags[kind]?.merged(with: tags) ?? tags
        file?.take(tags, of: kind)
    }

    /// What was there before belongs to the time before.
    private func afterPump(_ body: () -> Void) {
        pump()
        body()
    }

    /// Begins the file, with what was kept.
    private func start() {
        guard phase == .keeping else { return }
        phase = .recording
        upcoming = preRoll.takeAll()[...]
        while let released = upcoming.popFirst() { route(released) }
        pump()
    }

    func pump() {
        while let released = interleaver.next() {
            switch phase {
            case .recording where cut?.isBehind(released.unit) == true: keep(released)
            case .keeping: keep(released)
            case .recording: route(released)
            case .failed, .done: progress.drop(released.unit, .unwritten)
            }
        }
        if let cut, cut.isReached(by: interleaver) { endCut() }
        if interleaver.isOver { complete() }
    }

    private func keep(_ released: Interleaver.Released) {
        for old in preRoll.keep(released) { progress.drop(old, .early) }
    }

    /// Lets go of sound that waits for a picture to begin with.
    func dropLead() {
        for unit in lead { progress.drop(unit, .early) }
        lead = []
        leadCost = 0
    }

    private func complete() {
        guard phase != .done else { return }
        if phase == .keeping {
            for kept in preRoll.takeAll() { progress.drop(kept.unit, .early) }
        }
        if phase == .recording, file == nil, let first = lead.first {
            // Sound alone came, and its end before any picture.
            begin(with: Interleaver.Released(unit: first, generation: 0), .started)
        }
        phase = .done
        completing = completing ?? cut?.done
        closeFile()
        finishIfDone()
    }

    // MARK: Files

    func route(_ released: Interleaver.Released) {
        let unit = released.unit
        guard phase == .recording else { return progress.drop(unit, .unwritten) }
        guard file != nil else {
            if mayBegin(with: unit) {
                begin(with: released, .started)
            } else {
                wait(with: unit)
            }
            return
        }
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
        return leads || (interleaver.patience != nil && since > Self.startPatience)
            || leadCost > Self.leadLimit
    }

    /// Keeps sound that comes before the first picture: of a file all, as far as memory goes, of a live
    /// capture none.
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
        if file.kinds.contains(unit.kind), !file.holds(unit) { return .formatChanged }
        if let wantsNewFile { return wantsNewFile }
        return segment.isReached(at: unit) ? .segment : nil
    }

    private func begin(with released: Interleaver.Released, _ reason: RecorderEvent.Reason) {
        let unit = released.unit
        wantsNewFile = nil
        var first: [EncodedUnit] = lead
        lead = []
        leadCost = 0
        if interleaver.patience != nil {
            // Live: nothing is heard before the first picture is seen.
            for early in first where unit.kind == .video && early.end <= unit.time {
                progress.drop(early, .early)
            }
            first.removeAll { unit.kind == .video && $0.end <= unit.time }
        }
        var streams: [RecordingKind: EncodedUnit] = [:]
        for kind in kinds {
            let next =
                first.first { $0.kind == kind } ?? (unit.kind == kind ? unit : nil)
                ?? upcoming.first { $0.unit.kind == kind }?.unit ?? interleaver.peek(kind)
            if let next {
                streams[kind] = next
            } else if !interleaver.isOver(kind), missing.insert(kind).inserted {
                tell(.streamMissing(kind.name))
            }
        }
        if unit.kind == .video { fileGeneration = released.generation }
        let path = names.path(at: fileIndex)
        do throws(PipelineError) {
            while guardian.isShort(of: 0) {
                if removeOldest() { continue }
                return giveUp(first + [unit], path)
            }
            let file = try RecordingFile(
                path, index: fileIndex, container: container, streams: streams,
                tags: tags)
            file.onFailure { [weak self, progress] error in
                // What follows waits for nothing: the writer meets it at its next unit.
                if progress.fail(error) {
                    self?.tell(.failed(error))
                    self?.onEnding()
                }
            }
            try file.open()
            self.file = file
            guardian.begin(fileIndex, hasPictures: streams[.video] != nil)
            fileIndex += 1
            segment.begin(at: unit.time, limits.segments)
            progress.update {
                $0.current = file
                $0.begun += 1
            }
            tell(.fileStarted(path: path, reason))
        } catch {
            fail(error)
            drop(first + [unit])
            return
        }
        opening = first.filter { streams[$0.kind] != nil }[...]
        // In `first` already, where sound alone begins the file.
        if !first.contains(where: { $0 === unit }) { opening.append(unit) }
        while let next = opening.popFirst() { write(next) }
    }

    /// The disk is too full for another file.
    private func giveUp(_ units: [EncodedUnit], _ path: String) {
        if fileIndex == 0 { fail(.tooFull(guardian.free, path)) } else { end(guardian.free) }
        drop(units)
    }

    /// No file takes these, nor what follows. The last may be among the others, where sound alone begins.
    private func drop(_ units: [EncodedUnit]) {
        phase = .failed
        for (index, unit) in units.enumerated()
        where !units[..<index].contains(where: { $0 === unit }) {
            progress.drop(unit, .unwritten)
        }
    }

    /// The disk is nearly full: the event first, then a complete file.
    func end(_ free: Int) {
        guard progress.update({ $0.ended == nil }) else { return }
        progress.end(.diskNearlyFull)
        tell(.diskNearlyFull(free: free))
        onEnding()
    }

    func fail(_ error: PipelineError) {
        guard progress.fail(error) else { return }
        tell(.failed(error))
        onEnding()
    }
}
