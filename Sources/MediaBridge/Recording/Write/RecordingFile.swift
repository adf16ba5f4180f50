internal import FoundationEssentials
internal import Glibc
internal import MediaBasics
internal import Synchronization

/// One file of a recording: a muxer and a file sink in a separate pipeline.
///
/// Its times begin at zero. Only the writer uses it, except where noted.
final class RecordingFile: Sendable {
    private let claim: ClaimedFile
    /// The file's path, which changes if the file is moved. Thread: any.
    var path: String { claim.path }
    let streams: [RecordedStream]
    /// The recorder's time that becomes zero in the file.
    let zero: MediaTime
    /// The wall-clock time of the file's time zero, in nanoseconds since 1970.
    let began: Int64
    /// The local time of day of ``began``, in nanoseconds; `nil` for files without a timecode.
    private let timeOfDay: Int64?
    let index: Int
    let container: RecordingContainer
    private let output: Output
    private let reached = Atomic<Int64>(0)
    /// The times of the last units pushed, including all units that are queued for the muxer.
    private let queued = Mutex<[RecordedStream: [MediaTime]]>([:])
    /// The object that the probe on the muxer retains.
    private final class Outgoing: Sendable {
        let tally = SingleWriterCounter()
    }
    private let outgoing = Outgoing()
    /// Buffers that the muxer has passed to the file: one unit may take several writes. Thread: any.
    var writes: Int { outgoing.tally.value }
    private let marks = Mutex<[RecordedFile.Mark]>([])
    /// Titles of the audio tracks of a movie: its muxer would write the last one as that of the file.
    private let titles = Mutex<[RecordedStream: String]>([:])
    /// The number of units in a file that failed; `nil` for any other.
    private let held = Mutex<[RecordedStream: Int]?>(nil)
    /// The units that ``abandon()`` discarded; `nil` before.
    private let discarded = Mutex<[RecordedStream: Int]?>(nil)
    /// The format of each stream, which the muxer gets once: the header cannot change.
    private let formats: [RecordedStream: Format]
    private let tags: [RecordedStream: Tags]
    /// The orientation of the pictures; upright if they were encoded here.
    private let orientation: ImageOrientation
    /// Signalled when a unit leaves a queue, and when the file takes no more units.
    private let movement = MonotonicSignal()
    /// Flush a durable recording, and check the file's place, until the file is complete.
    private let heartbeats = Mutex<[Heartbeat]>([])
    /// The offset up to which no fragment of a durable mp4 is hidden.
    private let shown = Atomic(0)
    private let holder = GStreamer.Holder()

    /// The maximum number of units queued for the muxer, and the number of one stream's queued
    /// units at which the muxer is considered to be waiting for another stream.
    private static let depth = 256
    private static let starving = 200

    /// - Parameters:
    ///   - first: The first unit of each stream in the file.
    ///   - tags: The tags of each stream.
    ///   - timeline: Knows the wall-clock time of the recorder's times.
    init(
        _ claim: ClaimedFile, index: Int, container: RecordingContainer,
        first: [RecordedStream: EncodedUnit], tags: [RecordedStream: Tags] = [:],
        isDurable: Bool = false,
        timeline: RecordingTimeline
    ) throws(PipelineError) {
        // Muxers do not write the orientation: it is added to mp4 below.
        self.tags = tags.compactMapValues { $0.removing(["image-orientation"]) }
        orientation =
            first[.video]?.isCopy == true
            ? tags[.video]?["image-orientation"].flatMap { ImageOrientation(tag: $0) } ?? .init()
            : .init()
        formats = first.mapValues { Format($0) }
        zero = first.values.map(\.time).min() ?? .zero
        began = timeline.wallTime(of: zero)
        timeOfDay = container == .mov ? timeline.wallClock.timeOfDay(at: began) : nil
        self.claim = claim
        self.index = index
        self.container = container
        streams = first.keys.sorted()
        var configuration = PipelineVideoSink.Configuration()
        configuration.whenFull = .wait
        configuration.queue = QueueLimit(buffers: Self.depth)
        // Unbuffered: everything the muxer writes is passed to the kernel, which keeps it if the
        // process dies.
        var text = try VariableText("filesink location=${path} buffer-mode=unbuffered async=false")
            .filled(with: ["path": claim.location])
        let zero = zero
        let starts = first.mapValues { $0.time - zero }
        text = "\(container.muxer(starts: starts)) name=mux ! \(text)"
        for stream in streams {
            text += " appsrc name=\(stream.name) ! mux.\(container.pad(for: stream))"
        }
        do throws(PipelineError) {
            output = try Output(text, configuration: configuration)
        } catch { throw claim.named(error) }
        for branch in output.branches.values {
            branch.source.onDeparture { [movement] in movement.signal() }
        }
        let muxer = output.pipeline.element(named: "mux")
        muxer?.pad("src")?.onBuffer { [outgoing] in outgoing.tally.add() }
        let light = PictureLight(first[.video]?.caps)
        switch container.structure {
        case .movie:
            let header = FragmentHeader(
                starts: streams.compactMap { starts[$0] }, orientation: orientation, created: began,
                hidesFragments: isDurable, light: light)
            muxer?.pad("src")?.rewrite(FragmentHeader.isMeant) { header.edit($0) }
            if let video = first[.video] { container.setTimescale(muxer, for: video.caps) }
        case .matroska:
            MatroskaHeader.correct(muxer, created: began, light: light) { [weak self] in
                self?.duration ?? .zero
            }
        case .transportStream, .flac, .stream: break
        }
    }

    /// Opens the file. Blocks. Thread: the writer's queue.
    func open() throws(PipelineError) {
        output.prepare()
        do throws(PipelineError) {
            for (stream, tags) in tags { take(tags, of: stream) }
            try output.pipeline.setStateAndWait(.playing)
        } catch {
            output.close()
            output.pipeline.requestState(.null)
            throw claim.named(error)
        }
    }

    /// Whether the pictures need a rotation that the container cannot store, so that players ignore
    /// it.
    var losesOrientation: Bool { !container.isMovie && orientation != ImageOrientation() }

    /// Passes a stream's tags to the muxer.
    func take(_ tags: Tags, of stream: RecordedStream) {
        var tags: Tags? = tags
        if container.isMovie, stream.kind == .audio, streams.contains(where: { $0.number > 0 }) {
            if let title = tags?["title"] { titles.withLock { $0[stream] = title } }
            tags = tags?.removing(["title"])
        }
        if let tags { output.branches[stream.name]?.receive(tags) }
    }

    /// Calls `body` with the first error, on the thread that posts it.
    func onFailure(_ body: @escaping @Sendable (PipelineError) -> Void) {
        output.pipeline.onFirstError { [movement, claim] error in
            body(claim.named(error))
            movement.signal()
        }
    }

    /// Returns whether the file's header is valid for a unit; otherwise the unit belongs in another
    /// file, regardless of what changed.
    func holds(_ unit: EncodedUnit) -> Bool { formats[unit.stream]?.includes(unit) ?? false }

    /// Passes a unit to the muxer. Blocks while the disk is slow.
    ///
    /// - Returns: False if the file accepts no more units, or not this unit's format.
    func push(_ unit: EncodedUnit) -> Bool {
        guard let branch = output.branches[unit.stream.name], let format = formats[unit.stream],
            format.includes(unit)
        else { return false }
        let disposition = branch.push(
            unit.buffer.retained(), caps: format.described, time: unit.presented - zero,
            duration: unit.duration, live: nil)
        guard disposition.isAccepted else { return false }
        note(unit.time, of: unit.stream)
        reached.max(branch.reached.nanoseconds, ordering: .relaxed)
        return true
    }

    /// The end of the last unit. Thread: any.
    var duration: MediaTime { MediaTime(nanoseconds: reached.load(ordering: .relaxed)) }

    /// Returns the streams that the muxer is waiting for while units of another stream fill its
    /// queue: it has taken their last unit, and the next one of the full queue is not earlier.
    func starving(beside stream: RecordedStream) -> [RecordedStream] {
        guard waiting(stream) >= Self.starving, let next = nextQueued(stream) else { return [] }
        return lacking(beside: stream).filter { newestQueued($0).map { $0 <= next } ?? true }
    }

    private func note(_ time: MediaTime, of stream: RecordedStream) {
        queued.withLock { queued in
            queued[stream, default: []].append(time)
            if queued[stream, default: []].count > 2 * Self.depth {
                queued[stream]?.removeFirst(Self.depth)
            }
        }
    }

    /// Returns the open streams that have nothing queued for the muxer.
    func lacking(beside stream: RecordedStream) -> [RecordedStream] {
        streams.filter { $0 != stream && waiting($0) == 0 && !hasEnded($0) }
    }

    /// The time of the unit that the muxer takes next.
    private func nextQueued(_ stream: RecordedStream) -> MediaTime? {
        let waiting = waiting(stream)
        return queued.withLock { $0[stream]?.suffix(max(waiting, 1)).first }
    }

    private func newestQueued(_ stream: RecordedStream) -> MediaTime? {
        queued.withLock { $0[stream]?.last }
    }

    /// Whether a push of this stream would wait.
    func isFull(_ stream: RecordedStream) -> Bool {
        guard let branch = output.branches[stream.name] else { return false }
        return branch.isOpen && !branch.hasRoom
    }

    /// Blocks until a unit leaves a queue, or the file takes no more units.
    ///
    /// - Returns: False if nothing happened for so long.
    func waitForMovement(for limit: Duration) -> Bool { movement.wait(for: limit) }

    /// Ends a stream before the end of the file.
    func end(_ stream: RecordedStream) {
        guard let branch = output.branches[stream.name], branch.isOpen else { return }
        branch.close()
        branch.endOfStream()
    }

    private func waiting(_ stream: RecordedStream) -> Int {
        output.branches[stream.name]?.waitingBuffers ?? 0
    }

    /// Returns whether a stream ended before the file.
    func hasEnded(_ stream: RecordedStream) -> Bool {
        guard let branch = output.branches[stream.name] else { return true }
        return !branch.isOpen
    }

    /// Completes the file.
    ///
    /// - Parameters:
    ///   - stallTimeout: The longest time without a unit being written.
    ///   - deadline: The longest time for the pipeline's change to NULL.
    /// - Throws: The error that made it fail, now or before.
    func finish(stallTimeout: Duration, deadline: Duration) async throws(PipelineError) {
        defer { heartbeats.withLock { $0 = [] } }
        do throws(PipelineError) {
            // The file is read back even if it was moved.
            try await output.finish(
                stallTimeout: stallTimeout, deadline: deadline, checksFiles: false,
                movement: { [outgoing] in outgoing.tally.value })
        } catch { throw claim.named(error) }
    }

    /// Adds a mark, which becomes a chapter when the file is complete. Thread: any.
    ///
    /// - Parameter time: The time of the recorder.
    func add(_ name: String, at time: MediaTime) -> RecordedFile.Mark {
        let mark = RecordedFile.Mark(name: name, time: max(.zero, time - zero).duration)
        marks.withLock { $0.append(mark) }
        return mark
    }

    /// Gives a complete file its marks, and an mp4 one index in place of its fragments. Blocks.
    ///
    /// - Parameter onProgress: Called while the file is read, and while the disk takes its data.
    /// - Throws: ``PipelineError`` if the disk is full, for example; the file plays nevertheless.
    func addIndex(isFragmented: Bool, onProgress: () -> Void) throws(PipelineError) {
        let (location, marks) = (claim.location, marks.withLock { $0 })
        guard FileSize.of(location) != nil else { return }
        do throws(PipelineError) {
            switch container.structure {
            case .movie:
                guard !isFragmented else { return }
                let titles = titles.withLock { titles in streams.map { titles[$0] } }
                try MovieFinish(location, onProgress: onProgress)?.run(
                    marks: marks, titles: titles, timeOfDay: timeOfDay, onProgress: onProgress)
            case .matroska:
                if !marks.isEmpty {
                    try MatroskaChapters.add(marks, to: location, onProgress: onProgress)
                }
            case .flac: try StreamInformation.addLength(to: location)
            case .transportStream, .stream: break
            }
        } catch { throw claim.named(error) }
    }

    /// Flushes the file to the disk while it grows, on a separate thread.
    ///
    /// - Parameter onFailure: Called with each error of the disk, on that thread.
    func flushRegularly(
        _ clock: any Timeline, _ onFailure: @escaping @Sendable (PipelineError) -> Void
    ) {
        let flushed = Atomic(0)
        let queue = SerialQueue(label: "mediabridge.flush")
        // An mp4 may hold back 0.5 s in a fragment: 0.25 s remain for a slow disk.
        let heartbeat = Heartbeat(every: .milliseconds(250), on: queue, of: clock) { [weak self] in
            guard let self else { return }
            let size = byteCount
            let before = flushed.exchange(size, ordering: .relaxed)
            guard size != before else { return }
            do throws(PipelineError) { try flush(isNew: before == 0) } catch { onFailure(error) }
        }
        heartbeats.withLock { $0.append(heartbeat) }
    }

    /// Checks every second, on a separate thread, whether the file is still at its path.
    ///
    /// - Parameter onFailure: Called with the error if it is not, on that thread.
    func watchPlace(
        _ clock: any Timeline, _ onFailure: @escaping @Sendable (PipelineError) -> Void
    ) {
        let queue = SerialQueue(label: "mediabridge.place")
        let heartbeat = Heartbeat(every: .seconds(1), on: queue, of: clock) { [weak self] in
            do throws(PipelineError) { try self?.checkPlace() } catch { onFailure(error) }
        }
        heartbeats.withLock { $0.append(heartbeat) }
    }

    /// Whether the file still has the name that it was given.
    var isInPlace: Bool { claim.isInPlace(followsLinks: true) }

    /// Throws if the file is not at its path any more, so that the recording would be lost.
    func checkPlace() throws(PipelineError) { try claim.checkPlace() }

    /// Flushes the file to the disk. Blocks. A pipe or a device is not flushed.
    ///
    /// - Parameter isNew: Whether its name is flushed too.
    func flush(isNew: Bool, _ onProgress: () -> Void = {}) throws(PipelineError) {
        guard claim.descriptor >= 0 else { return }
        let path = self.path
        if isNew { try FileFlush.entry(of: path) }
        let fragments = container.isMovie ? try hiddenFragments() : []
        try FileFlush.run(claim.descriptor, path, onProgress: onProgress)
        guard !fragments.isEmpty else { return }
        for place in fragments where pwrite(claim.descriptor, "moof", 4, place + 4) != 4 {
            throw FileFlush.failure(path)
        }
        try FileFlush.run(claim.descriptor, path)
    }

    /// Returns the offsets of the complete fragments that were added since the last call. Each is a
    /// `free` box until it is on the disk: ffmpeg opens no file with half a `moof` box.
    private func hiddenFragments() throws(PipelineError) -> [Int] {
        let file = try FileBytes(claim.location)
        var (places, last): ([Int], Int?) = ([], nil)
        try file.forEachBox(from: shown.load(ordering: .relaxed)) { type, place, size in
            if type == "mdat", place + size <= file.count {
                if let last { places.append(last) }
                shown.store(place + size, ordering: .relaxed)
            }
            let isFragment = type == "free" && file.read(4, at: place + 12) == Array("mfhd".utf8)
            last = isFragment ? place : nil
        }
        return places
    }

    /// Unlocks the file for other writers. Call it when the file is complete.
    func unlock() { claim.unlock() }

    /// Unblocks the writer if it is waiting for room, and discards the units that wait for the muxer, so that
    /// the file can be completed. Thread: any.
    func abandon() {
        output.close()
        let isFirst = discarded.withLock { discarded in
            defer { discarded = discarded ?? [:] }
            return discarded == nil
        }
        if isFirst {
            let ends = streams.compactMap { nextQueued($0) }.map { ($0 - zero).nanoseconds }
            if let end = ends.max() { reached.min(end, ordering: .relaxed) }
            for stream in streams {
                let exit = output.branches[stream.name]?.source.element.pad("src")
                exit?.filterBuffers { [weak self] _ in
                    self?.discarded.withLock { $0?[stream, default: 0] += 1 }
                    return false
                }
            }
        }
        movement.signal()
    }

    /// Returns the number of units that reached the muxer; of a file that failed, those in the file. Thread: any.
    func written(_ stream: RecordedStream) -> Int {
        let departed = output.branches[stream.name]?.writtenBuffers ?? 0
        let muxed = departed - discarded.withLock { $0?[stream] ?? 0 }
        return held.withLock { $0.map { min(muxed, $0[stream] ?? 0) } } ?? muxed
    }

    /// Whether an element failed, so that nothing more is written. Thread: any.
    var hasFailed: Bool { output.pipeline.failure != nil }

    /// Units of all streams that reached the muxer. Thread: any.
    var writtenUnits: Int { streams.reduce(0) { $0 + written($1) } }

    /// Returns whether more than `usual` units are queued for the muxer although no stream lacks
    /// units: the muxer then waits for the disk, not for a stream. Thread: any.
    func isHeldUp(beyond usual: Int) -> Bool {
        let branches = output.branches.values
        guard branches.reduce(0, { $0 + $1.waitingBuffers }) > usual else { return false }
        return !branches.contains { $0.isOpen && $0.waitingBuffers == 0 }
    }

    /// Bytes on the disk. Thread: any.
    var byteCount: Int { claim.byteCount }

    /// Returns what is written so far. Thread: any.
    func report(_ failure: PipelineError?) -> RecordedFile {
        RecordedFile(
            path: path, frames: written(.video), began: Date(nanosecondsSince1970: began),
            duration: duration.duration, bytes: byteCount, marks: marks.withLock { $0 },
            failure: failure)
    }
}

/// The format of one stream in a file, which must not change within it.
private final class Format: Sendable {
    private let first: Caps
    /// The caps that the muxer gets. If the audio begins with its encoder's first unit, these are
    /// the encoder's caps, so that a decoder skips the priming samples. If it begins in the middle
    /// of its stream, the caps say that nothing is to be skipped.
    let described: Caps
    /// The last caps compared; kept alive, so that no other caps object can have the same identity.
    private let same: Mutex<Caps>

    init(_ unit: EncodedUnit) {
        first = unit.caps
        described =
            (unit.kind == .audio && !unit.isFirst ? unit.caps.withoutOpusPreSkip() : nil)
            ?? unit.caps
        same = Mutex(unit.caps)
    }

    func includes(_ unit: EncodedUnit) -> Bool {
        same.withLock { same in
            if same.identity == unit.caps.identity { return true }
            guard first.isSameStream(as: unit.caps) else { return false }
            same = unit.caps
            return true
        }
    }
}

// MARK: - Reading back

/// Verification of a file after it was written.
extension RecordingFile {
    /// Reads the complete file until each of its streams and a unit of it were found, and compares its duration.
    /// A pipe or a device cannot be read back, and is not checked.
    ///
    /// - Throws: ``PipelineError`` if the file does not exist, or does not contain what was
    ///   written.
    func readBack(within limit: Duration) async throws(PipelineError) {
        guard claim.descriptor >= 0 else { return }
        // tsdemux skips what is no packet.
        if container == .ts, try FileBytes(claim.location).read(1, at: 0) != [0x47] {
            throw bad("its beginning is lost")
        }
        let scan = try scan(buffersOfEach: Self.enough)
        let found: [StreamScan.Stream]
        switch await Self.outcome(of: scan, within: limit) {
        case .success(let streams): found = streams.filter { !$0.times.isEmpty }
        case .failure(let error): throw bad(claim.named(error).message)
        case nil: throw bad("it cannot be read within \(limit)")
        }
        var rest = found
        for stream in streams where written(stream) > 0 {
            guard let place = rest.firstIndex(where: { $0.kind == stream.kind }) else {
                throw bad("it has no \(stream.name)")
            }
            rest.remove(at: place)
        }
        // Transport streams state no duration: demuxers estimate it.
        guard container.statesDuration, let stated = scan.duration.map({ MediaTime($0) }) else {
            return
        }
        guard abs((stated - duration).nanoseconds) < Self.tolerance else {
            throw bad("it states a duration of \(stated) instead of \(duration)")
        }
    }

    /// Counts the units in a file that failed, because the muxer had more of them. Without an answer, those that
    /// reached the muxer count.
    func count(within limit: Duration) async {
        guard claim.descriptor >= 0 else { return }
        var counts: [RecordedStream: Int]?
        if container.isMovie, let samples = try? MovieFragments.samples(of: claim.location) {
            counts = [:]
            for (index, stream) in streams.enumerated() { counts?[stream] = samples[index + 1] }
        } else if let scan = try? scan(buffersOfEach: nil),
            case .success(let found) = await Self.outcome(of: scan, within: limit)
        {
            counts = [:]
            for kind in MediaKind.allCases {
                let counted = found.filter { $0.kind == kind }.map(\.times.count)
                for (stream, count) in zip(streams.filter { $0.kind == kind }, counted) {
                    counts?[stream] = count
                }
            }
        }
        held.withLock { $0 = counts }
    }

    private func scan(buffersOfEach limit: Int?) throws(PipelineError) -> StreamScan {
        try StreamScan(
            of: claim.location, demuxer: container.demuxer, parsers: container.parsers,
            buffersOfEach: limit)
    }

    /// Returns the streams that a scan finds; `nil` if it takes too long.
    private static func outcome(
        of scan: StreamScan, within limit: Duration
    ) async -> Result<[StreamScan.Stream], PipelineError>? {
        let outcome = Once<Result<[StreamScan.Stream], PipelineError>>()
        outcome.expire(after: limit)
        // A control task: the deadline must not depend on how busy Swift's thread pool is.
        let task = ControlTask.start {
            do throws(PipelineError) {
                outcome.resume(.success(try await scan.run()))
            } catch {
                outcome.resume(.failure(error))
            }
        }
        let result = await outcome.value()
        if result == nil { task.cancel() }
        return result
    }

    /// How far the stated duration may be off, in nanoseconds: muxers round it, and may not know how long the
    /// last unit is.
    private static let tolerance: Int64 = 500_000_000

    /// Number of buffers to read of each stream; more than any codec has headers: FLAC in Matroska
    /// begins with several.
    private static let enough = 32

    private func bad(_ what: String) -> PipelineError {
        PipelineError(
            .resourceFailed,
            message: "the recording \"\(path)\" was written, but reading it back failed: \(what)",
            advice: "check the disk, and whether another program writes to the file")
    }
}
