internal import Dispatch
internal import MediaBasics
internal import Synchronization

/// How one recording is read for a clip.
struct ClipPlan: Sendable {
    let file: Recordings.File
    /// The streams that are read: one with video, and all with audio.
    private(set) var streams: [RecordedStream] = []
    /// Descriptions of the others.
    private(set) var leftOut: [String] = []
    private var sources: [StreamReader.Stream] = []
    /// How much later than the recording each stream begins, in nanoseconds.
    private(set) var delays: [RecordedStream: Int64] = [:]

    /// - Parameter wanted: The kinds of streams that the clip has.
    init(
        _ file: Recordings.File, into container: RecordingContainer,
        _ wanted: [MediaKind] = MediaKind.allCases
    ) throws(PipelineError) {
        self.file = file
        let isSame = file.container == container
        let hasDecodingTimes = file.container.isMovie || file.container == .ts
        let found = RecordedStream.numbered(file.streams.map { MediaKind(rawValue: $0.kind) })
        for ((stream, pad), recorded) in zip(zip(file.streams, file.pads), found) {
            if let recorded, !wanted.contains(recorded.kind) { continue }
            guard let recorded,
                recorded.number == 0 || recorded.kind == .audio && container.takesSeveralStreams
            else {
                leftOut.append("\(file.path): \(stream)")
                continue
            }
            let form =
                recorded.kind == .video
                ? VideoCodec(rawValue: stream.codec).form(
                    copiedInto: container, hasDecodingTimes: hasDecodingTimes)
                : AudioCodec(rawValue: stream.codec).form(
                    copiedInto: container, hasDecodingTimes: hasDecodingTimes)
            guard form != nil || isSame && !container.isMovie else {
                throw PipelineError(
                    .streamFailed,
                    message: "\(file.path) has \(stream.codec), which cannot be copied into "
                        + ".\(container.rawValue)",
                    advice: "another file extension, for example .mkv")
            }
            let own = container.between(pad.mediaType, isAAC: stream.codec == "aac")
            let elements = isSame && container != .ts ? nil : form
            let pieces = isSame ? nil : file.container.parsers[pad.mediaType]
            streams.append(recorded)
            delays[recorded] = pad.start - file.start
            sources.append(
                .init(
                    pad: pad.name,
                    elements: (pieces.map { "\($0) ! " } ?? "")
                        + (elements ?? own.map { "\($0) ! " } ?? "")))
        }
    }

    /// Whether reading may begin at any time: after a seek h264timestamper 1.22 changes times.
    var mayBeSought: Bool {
        file.isIndexed && !sources.contains { $0.elements.contains("timestamper") }
    }

    /// Returns the name of the demuxer's pad of a stream that is read.
    func pad(_ index: Int) -> String { sources[index].pad }

    /// The titles that the demuxer does not deliver.
    var titles: [(stream: RecordedStream, tags: Tags)] {
        zip(streams, sources).compactMap { stream, source in
            file.recorded.titles[source.pad].flatMap { Tags.title($0) }.map { (stream, $0) }
        }
    }

    func reader() throws(PipelineError) -> StreamReader {
        try StreamReader(
            of: file.path, demuxer: file.container.demuxer, streams: sources,
            fragments: file.recorded.fragments)
    }
}

/// Chooses the units of a clip from those of its recordings, gives them their times, and passes them to
/// the writer in batches. It waits while the writer is behind.
///
/// Its times count from the first recording's, in nanoseconds. Thread: one streaming thread at a time,
/// and the task that starts and ends the readers.
final class ClipCutter: Sendable {
    private struct State {
        var plan: ClipPlan?
        /// The place of the recording's first unit in the clip's times.
        var place: Int64 = 0
        /// The time that the clip begins with.
        var began: Int64?
        /// The time of the first picture of the recording that is copied; those before it are encoded again, or
        /// not wanted.
        var copiedFrom = Int64.min
        /// Whether the next copied picture follows encoded ones of another recording.
        var followsEncoded = false
        /// While ``began`` is not known: the time of the last key frame, and the units from there on.
        var groupBegan: Int64?
        var group: [EncodedUnit] = []
        var groupBytes = 0
        /// Pictures at or after the end, which pictures before the end may refer to.
        var tail: [EncodedUnit] = []
        var isOver: Set<RecordedStream> = []
        /// The end of each stream's last unit.
        var ends: [RecordedStream: Int64] = [:]
        var last: [RecordedStream: Int64] = [:]
        /// The format of each stream: the last one that came, the first one, and the one that is written.
        var formats: [RecordedStream: (last: Caps, first: Caps, written: Caps)] = [:]
        var given: [RecordedStream: Int] = [:]
        var batch: [RecordingInbox.Item] = []
        var taken = 0
        var failure: PipelineError?
    }
    private let state = Mutex(State())
    private let from, to: Int64
    private let leader: RecordedStream
    private let keepsPreSkip: Bool
    private let course: RecordingCourse
    private let room = DispatchSemaphore(value: 4)

    private static let batchSize = 64
    /// How much a requested time may differ from that of a frame and still mean it: Matroska's
    /// precision.
    static let rounding: Int64 = 1_000_000
    /// How far sound may overlap, so that pictures follow each other exactly.
    private static let overlap: Int64 = 20_000_000
    /// The largest number of pictures that are stored before an earlier one.
    private static let reordering = 16
    /// The maximum size of what may follow the key frame before the beginning, in bytes.
    static let largestGroup = 512_000_000

    /// - Parameter keepsPreSkip: Whether the clip begins where the recording does, so that a decoder must
    ///   skip what the encoder inserted.
    init(from: Int64, to: Int64, keepsPreSkip: Bool, _ course: RecordingCourse) {
        (self.from, self.to, self.keepsPreSkip, self.course) = (from, to, keepsPreSkip, course)
        leader = course.streams[0]
        let begins = course.streams.map { RecordingInbox.Item.began($0, generation: 0) }
        course.writer.queue.async { course.handle([.start(at: nil)] + begins) }
    }

    /// Begins with a recording whose first unit is at a place in the clip.
    ///
    /// - Parameter exact: What the clip begins with; `nil`: a key frame of the recording.
    /// - Returns: Where reading it must begin, in its own time; `nil` for its beginning.
    func begin(_ plan: ClipPlan, at place: Int64, exact: ExactBeginning? = nil) -> Int64? {
        state.withLock { state in
            (state.plan, state.place) = (plan, place)
            (state.isOver, state.last, state.tail) = ([], [:], [])
            state.copiedFrom = .min
            state.batch += plan.titles.map { .tags($0.stream, $0.tags) }
            guard state.began == nil else { return nil }
            if let exact { begin(exact, place - plan.file.start, &state) }
            guard from > place, plan.mayBeSought else { return nil }
            return max(0, from - place + plan.file.start)
        }
    }

    private func begin(_ exact: ExactBeginning, _ shift: Int64, _ state: inout State) {
        state.began = from
        state.followsEncoded = exact.copiedFrom == .max && !exact.units.isEmpty
        state.copiedFrom = exact.copiedFrom == .max ? to : min(to, exact.copiedFrom + shift)
        state.formats[leader] = (exact.recorded, exact.recorded, exact.written)
        for unit in exact.units {
            guard let shown = unit.presented.map({ $0 + shift }) else { continue }
            state.ends[leader] = max(
                state.ends[leader] ?? 0,
                shown + (unit.buffer.duration.map { MediaTime($0).nanoseconds } ?? 0))
            state.given[leader, default: 0] += 1
            var buffer = unit.buffer.retained()
            if exact.delay > 0 {
                buffer = buffer.withOwnHeader()
                buffer.decodingTime = buffer.presentationTime.flatMap {
                    ClockTime(MediaTime($0) - MediaTime(nanoseconds: exact.delay))
                }
            }
            let own = EncodedUnit(
                leader, buffer, caps: exact.written, time: Self.time(shown - exact.delay),
                presented: Self.time(shown), isFirst: false, isCopy: true, arrival: .zero)
            state.batch.append(.unit(own, generation: 0))
        }
    }

    private static func time(_ time: Int64) -> MediaTime {
        MediaTime(nanoseconds: time) + RecordingTimeline.lead
    }

    var began: Int64? { state.withLock { $0.began } }
    var taken: Int { state.withLock { $0.taken } }
    var failure: PipelineError? { state.withLock { $0.failure } }
    var given: [RecordedStream: Int] { state.withLock { $0.given } }

    /// Returns the first place at which a recording continues the one before it: its pictures follow without a
    /// gap, and its sound does not overlap.
    func placeBehind(_ plan: ClipPlan) -> Int64 {
        let ends = state.withLock { $0.ends }
        return plan.streams.compactMap { stream in
            ends[stream].map {
                $0 - plan.delays[stream, default: 0] - (stream == leader ? 0 : Self.overlap)
            }
        }.max() ?? 0
    }

    /// Takes a unit of the present recording.
    ///
    /// - Returns: Whether more of the stream is wanted.
    func take(_ index: Int, _ unit: StreamReader.Unit) -> Bool {
        let (full, wantsMore) = state.withLock { state -> ([RecordingInbox.Item], Bool) in
            state.taken += 1
            guard state.failure == nil, let stream = state.plan?.streams[index],
                !state.isOver.contains(stream)
            else { return ([], false) }
            if let own = placed(unit, stream, &state) { choose(own, &state) }
            let wantsMore = state.failure == nil && !state.isOver.contains(stream)
            guard state.batch.count >= Self.batchSize else { return ([], wantsMore) }
            return (Self.takeBatch(&state), wantsMore)
        }
        guard !full.isEmpty else { return wantsMore }
        // Ends at the latest when the file is abandoned.
        room.wait()
        course.writer.queue.async { [course, room] in
            course.handle(full)
            room.signal()
        }
        return wantsMore
    }

    func take(_ tags: Tags, of index: Int) {
        state.withLock { state in
            if let stream = state.plan?.streams[index] { state.batch.append(.tags(stream, tags)) }
        }
    }

    /// Passes on everything that was held back, and ends the clip. Never blocks.
    func finish() {
        let rest = state.withLock { state in
            start(&state)
            return Self.takeBatch(&state)
        }
        let ends = course.streams.flatMap { stream -> [RecordingInbox.Item] in
            [.ended(stream, generation: 0, nil), .trackEnded(stream)]
        }
        course.writer.queue.async { [course] in course.handle(rest + ends) }
    }

    private static func takeBatch(_ state: inout State) -> [RecordingInbox.Item] {
        defer { state.batch = [] }
        return state.batch
    }

    /// Returns the unit with its times in the clip; `nil` for a header, and after a failure.
    private func placed(
        _ unit: StreamReader.Unit, _ stream: RecordedStream, _ state: inout State
    ) -> EncodedUnit? {
        if stream.kind == .audio, unit.buffer.isHeader { return nil }
        let last = state.last[stream]
        guard let stated = unit.presented ?? unit.decoded ?? last, let plan = state.plan,
            let caps = written(unit.caps, stream, plan, &state)
        else { return nil }
        state.last[stream] = stated
        if stream == .video, state.followsEncoded, state.place > 0 {
            state.followsEncoded = false
            guard unit.isKey else {
                state.failure = PipelineError(
                    .streamFailed,
                    message:
                        "\(plan.file.path) does not begin with an IDR picture, so an exact clip cannot "
                        + "continue with it",
                    advice: "a clip that begins with a key frame")
                return nil
            }
        }
        if stream == .video, stated < plan.file.start, state.place > 0 {
            state.failure = PipelineError(
                .streamFailed,
                message:
                    "\(plan.file.path) is shown from the middle of a group of pictures on, so a clip "
                    + "can begin with it, but not continue with it",
                advice: "a clip that ends before it, and another that begins with it")
            return nil
        }
        let shift = state.place - plan.file.start
        let lasts = unit.buffer.duration.map { MediaTime($0).nanoseconds }
        state.ends[stream] = max(
            state.ends[stream] ?? 0,
            stated + shift + (lasts ?? last.map { max(0, stated - $0) } ?? 0)
        )
        return EncodedUnit(
            stream, unit.buffer.retained(), caps: caps,
            time: Self.time(min(unit.decoded ?? stated, stated) + shift),
            presented: Self.time(stated + shift), isFirst: keepsPreSkip, isCopy: true,
            arrival: .zero)
    }

    /// Returns the format to write, or fails if it differs from that of earlier recordings.
    private func written(
        _ caps: Caps, _ stream: RecordedStream, _ plan: ClipPlan, _ state: inout State
    ) -> Caps? {
        let known = state.formats[stream]
        if let known, known.last.identity == caps.identity { return known.written }
        let written = keepsPreSkip ? caps : caps.withoutOpusPreSkip() ?? caps
        guard known?.first.isSameStream(as: written) ?? true else {
            state.failure = PipelineError(
                .streamFailed,
                message:
                    "the \(stream.name) of \(plan.file.path) has another format or codec data than "
                    + "that before it, and one file cannot contain both: "
                    + plan.file.streams.map { "\($0)" }.joined(separator: ", "),
                advice: "a clip that ends before it, and another that begins with it")
            return nil
        }
        state.formats[stream] = (caps, known?.first ?? written, known?.written ?? written)
        return known?.written ?? written
    }

    private func choose(_ unit: EncodedUnit, _ state: inout State) {
        let place = (unit.presented - RecordingTimeline.lead).nanoseconds
        guard let began = state.began else {
            let isLate = unit.stream == leader && place > from + Self.rounding
            if isLate, state.groupBegan != nil {
                start(&state)
                return choose(unit, &state)
            }
            hold(unit, place, &state)
            if isLate { start(&state) }
            return
        }
        // Leading pictures refer to pictures before the key frame, and cannot be decoded.
        guard place >= (unit.stream == leader ? max(began, state.copiedFrom) : began) else {
            return
        }
        guard place < to - Self.rounding else {
            if unit.kind == .video, state.tail.count < Self.reordering {
                state.tail.append(unit)
            } else {
                state.isOver.insert(unit.stream)
            }
            return
        }
        let units = (unit.kind == .video ? state.tail : []) + [unit]
        if unit.kind == .video { state.tail = [] }
        state.given[unit.stream, default: 0] += units.count
        state.batch += units.map { .unit($0, generation: 0) }
    }

    /// Keeps a unit that may be in the clip if that begins with the last key frame.
    private func hold(_ unit: EncodedUnit, _ place: Int64, _ state: inout State) {
        if unit.stream == leader, unit.isKey {
            state.groupBegan = place
            state.group.removeAll { $0.stream == leader || $0.presented < unit.presented }
            state.groupBytes = state.group.reduce(0) { $0 + $1.cost }
        }
        guard state.groupBegan != nil || unit.stream != leader else { return }
        state.group.append(unit)
        state.groupBytes += unit.cost
        guard state.groupBytes > Self.largestGroup, let file = state.plan?.file else { return }
        state.failure = PipelineError(
            .streamFailed,
            message:
                "\(file.path) has no key frame in \(state.groupBytes) bytes before the beginning",
            advice: "begin the clip earlier, at a key frame")
    }

    private func start(_ state: inout State) {
        guard state.began == nil, let began = state.groupBegan else { return }
        // A transport stream has no parameter sets elsewhere.
        if course.writer.container == .ts,
            let first = state.group.first(where: { $0.kind == .video }),
            first.caps.mediaType == "video/x-h264", !first.buffer.contains(5, in: first.caps),
            !first.buffer.contains(7, in: first.caps)
        {
            state.failure = PipelineError(
                .streamFailed,
                message:
                    "the clip would begin with a key frame that is no IDR picture; transport streams state "
                    + "how to decode pictures only at IDR pictures, so no player could show it",
                advice: "a clip to .mkv or .mp4")
            (state.group, state.groupBegan) = ([], nil)
            return
        }
        state.began = began
        let units = state.group
        state.group = []
        units.forEach { choose($0, &state) }
    }
}
