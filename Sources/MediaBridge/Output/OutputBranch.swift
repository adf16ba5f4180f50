internal import Synchronization

/// One appsrc of an output: its bounded queue, its times and its counts.
final class OutputBranch: Sendable {
    let name: String
    let source: AppSource
    private let timeline: OutputTimeline
    let gate = BackpressureGate()
    private let depth: OutputQueueDepth
    private let whenFull: WhenFull

    private let written = Written()
    private let farEnd: Pad?

    private struct Stream {
        var isOpen = false
        /// Caps of the incoming buffers, retained so that no other caps can get their identity.
        var given: Caps?
        var inputIdentity: UInt?
        /// Caps that are passed to the converter for the incoming buffers.
        var input: Caps?
        /// Converts the buffers to a format that the output takes; `nil` if they have one already.
        var converter: ElementChain?
        /// Whether the converter outputs the caps that the output was given first.
        var isFixed = false
        /// Caps that were set on the appsrc last; ANY if it sends bytes without caps.
        var caps: Caps?
        /// Tags of the stream that wait until the appsrc has caps.
        var tags: [Tags] = []
        var offset: MediaTime?
        /// What is added to timestamps, and subtracted again in the segment.
        var lead = MediaTime.zero
        var last: MediaTime?
        var intervals = FrameIntervals()
        /// The end of the last buffer.
        var reached = MediaTime.zero

        /// Whether the stream continues with these caps, which omit the size that earlier caps stated:
        /// only the key frames of a program state their size.
        func keepsFormat(of caps: Caps) -> Bool {
            guard let given, caps.isEncodedPictures, caps.mediaType == given.mediaType else {
                return false
            }
            return caps.pictureSize == nil && given.pictureSize != nil
        }
        var dropsOldest: Bool?
        /// Whether any encoded frame referred to another one. The oldest frame is not evicted then: others may refer
        /// to it.
        var hasReferences = false
        /// What frames of such a stream refer to, if its writer does not wait.
        var chain: ReferenceChain?
    }
    /// Locked throughout a push, so that two writers' buffers enter the queue in the order of their
    /// times.
    private let stream: Mutex<Stream>
    /// The buffers that were not taken. Not under the lock of a push, which may convert a frame for long.
    private let refused = Mutex(DropCounts())
    /// Whether any buffer may have been evicted in this run.
    private let hasEvicted = Atomic<Bool>(false)
    private let fitting: OutputFormatAdapter
    /// Buffers that were refused because of their format.
    let refusedFormats = FormatRefusals()
    /// Number of header buffers, which hold no media but data that a decoder needs first.
    private let headers = Atomic<Int>(0)
    /// Whether the output takes the stream's buffers as they are.
    private let isUnconverted = Atomic<Bool>(false)
    private let ending = Atomic<Bool>(false)
    private let endedByLimit = Atomic<Bool>(false)
    private let endListener = Mutex<(@Sendable () -> Void)?>(nil)
    /// Number of buffers evicted in a run that is over; negative before.
    private let finalEvictions = Atomic<Int>(-1)

    init(
        name: String, source: AppSource, timeline: OutputTimeline,
        configuration: PipelineSink.Configuration
    ) {
        self.name = name
        self.source = source
        self.timeline = timeline
        fitting = OutputFormatAdapter(source: source)
        depth = OutputQueueDepth(configured: configuration.queue, isOfSeveral: timeline.streams > 1)
        whenFull = configuration.whenFull
        stream = Mutex(Stream())
        farEnd = source.farEnd
        gate.setLimit(OutputQueueDepth.least)
        source.configure(OutputQueueDepth.least, dropsOldest: false)
        // The probes live as long as the pads, so they must not retain self, which retains the
        // pipeline.
        source.onDeparture { [gate] in gate.departed() }
        farEnd?.onBuffer(of: .media) { [written] in written.tally.add() }
        let last = farEnd ?? source.element.pad("src")?.peer
        if let last, let muxer = last.element,
            ["matroskamux", "webmmux"].contains(muxer.factoryName)
        {
            watchForTimelessMedia(at: last, of: muxer)
            last.leavesAtEndWithoutFormat()
        }
    }

    /// Makes the output fail if its muxer gets media without a presentation time, which it would write
    /// with an arbitrary time and without an error: a parser of an elementary stream knows only
    /// decoding times.
    private func watchForTimelessMedia(at pad: Pad, of muxer: Element) {
        let error = PipelineError(
            .noTime, element: muxer.path,
            message:
                "\"\(muxer.factoryName)\" received media without timestamps, and cannot place it "
                + "in time",
            advice: "put the parser into the capture, where the decoding times become timestamps")
        pad.onBuffer(of: .timelessMedia) { [refusedFormats] in refusedFormats.note(error) }
    }

    /// The object that the probe on the far end retains.
    private final class Written: Sendable {
        let tally = SingleWriterCounter()
    }

    /// Starts taking buffers; resets the state of an earlier run.
    func open() {
        written.tally.reset()
        ending.store(false, ordering: .sequentiallyConsistent)
        endedByLimit.store(false, ordering: .sequentiallyConsistent)
        finalEvictions.store(-1, ordering: .releasing)
        headers.store(0, ordering: .relaxed)
        isUnconverted.store(false, ordering: .relaxed)
        stream.withLock { stream in
            lead(&stream, by: .zero)
            stream = Stream(isOpen: true)
        }
        refused.withLock { $0 = DropCounts() }
        hasEvicted.store(false, ordering: .releasing)
        refusedFormats.reset()
        gate.reopen()
    }

    /// Stops taking buffers, and wakes writers that wait.
    func close() {
        stream.withLock { $0.isOpen = false }
        gate.close()
    }

    var isOpen: Bool { stream.withLock { $0.isOpen } }

    /// Whether the end of the stream was requested in this run.
    var isEnding: Bool { ending.load(ordering: .sequentiallyConsistent) }

    /// Whether a limit of the run ended the stream.
    var isEndedByLimit: Bool { endedByLimit.load(ordering: .sequentiallyConsistent) }

    /// Calls `body` before the end of the stream. Set it before the first run.
    func beforeEnd(_ body: @escaping @Sendable () -> Void) { endListener.withLock { $0 = body } }

    func endOfStream(isAtLimit: Bool = false) {
        if isAtLimit { endedByLimit.store(true, ordering: .sequentiallyConsistent) }
        // Of two branches that end at once, at least one sees the other.
        if !ending.exchange(true, ordering: .sequentiallyConsistent) {
            endListener.withLock { $0 }?()
        }
        source.endOfStream()
    }

    /// Whether the end of the stream has left the queue.
    var hasGivenEnd: Bool { source.element.pad("src")?.hasEnded ?? true }

    // MARK: Counts

    /// Whether any buffer was taken, headers included.
    var hasTaken: Bool { gate.enteredElements > 0 }

    /// Buffers taken, not counting headers.
    var acceptedBuffers: Int { gate.enteredElements - headers.load(ordering: .relaxed) }

    /// Buffers that wait in the queue.
    var waitingBuffers: Int { source.queuedBuffers }

    /// Buffers that reached the muxer, the payloader or the sink.
    var writtenBuffers: Int {
        farEnd == nil ? departedBuffers : written.tally.value
    }

    /// Buffers that left the queue for the output's elements, not counting headers.
    var departedBuffers: Int {
        max(0, gate.departedElements - headers.load(ordering: .relaxed))
    }

    /// Buffers that were not taken, by cause.
    var refusals: DropCounts { refused.withLock { $0 } }

    /// Old buffers that were evicted from the queue. While buffers move, one that may be on its way
    /// out of the queue counts as waiting.
    var evictedBuffers: Int {
        let final = finalEvictions.load(ordering: .acquiring)
        return final >= 0 ? final : max(0, missingBuffers - 1)
    }

    /// Buffers not taken and buffers evicted from the queue, by cause. Exact once the queue stands
    /// still.
    var drops: DropCounts {
        var drops = refusals
        drops[.evicted] += max(0, missingBuffers)
        return drops
    }

    /// Stores the number of evicted buffers. Called when the queue stands still, before it is
    /// emptied.
    func settle() { finalEvictions.store(max(0, missingBuffers), ordering: .releasing) }

    /// Buffers that entered the queue, are not in it and have not left it for the elements.
    private var missingBuffers: Int {
        guard hasEvicted.load(ordering: .acquiring) else { return 0 }
        let entered = gate.enteredElements
        let queued = source.queuedBuffers
        return entered - queued - gate.departedElements
    }

    /// Caps that the output takes; `nil` if it takes any.
    var acceptedCaps: Caps? { source.acceptedCaps.flatMap { $0.isAny ? nil : $0 } }

    func acceptedCaps(of caps: Caps?) -> Caps? { source.acceptedCaps(of: caps) }

    /// autovideoconvert 1.22 answers with all formats, and chooses a scaler that converts none of them.
    var preferredCaps: Caps? {
        let first = source.element.pad("src")?.peer?.element
        return first?.factoryName == "autovideoconvert" ? AppSink.commonFormats : nil
    }

    /// The codecs of pictures that the output takes; none if it takes anything.
    var acceptedCodecs: Set<VideoCodec> {
        guard let accepted = acceptedCaps else { return [] }
        return Set(accepted.mediaTypes.map { VideoCodec(mediaType: $0) })
            .intersection(VideoCodec.named)
    }

    func lendMemory(to sink: AppSink) { sink.forwardAllocationQueries(to: source) }

    // MARK: Writing

    /// Whether a buffer fits into the queue without a wait or an eviction.
    var hasRoom: Bool { gate.hasRoom { source.level } }

    /// Suspends until a buffer fits into the queue, or until the branch is closed.
    ///
    /// - Returns: False if it was closed.
    @discardableResult
    func untilRoom() async throws(PipelineError) -> Bool {
        try await gate.wait(level: { [source] in source.level })
    }

    /// Whether a buffer is queued without a wait and without a conversion.
    func queuesAtOnce(isLive: Bool) -> Bool {
        isUnconverted.load(ordering: .relaxed) && (evicts(isLive) || gate.hasRoomByCount)
    }

    private func evicts(_ isLive: Bool) -> Bool { !whenFull.waits(isLive: isLive) }

    /// Writes a buffer. From a live capture it never blocks: the oldest buffer in the queue is
    /// evicted. Otherwise it blocks the calling thread while the queue is full.
    ///
    /// - Parameters:
    ///   - evicts: Whether to evict for this buffer; `nil`: evict if it comes from a live capture.
    ///     Used only with ``WhenFull/automatic``.
    ///   - time: The presentation time; `nil` for a header, and for encoded frames that have none.
    ///   - isHeader: Whether it is a header, which is not counted.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime?, duration: MediaTime?,
        live: LiveTiming?, evicts explicit: Bool? = nil, isHeader: Bool = false
    ) -> FrameDisposition {
        let evicts = evicts(explicit ?? (live != nil))
        if !evicts, !gate.hasRoomByCount, !gate.waitOnThread(level: { source.level }) {
            return refuse(.closed)
        }
        let result =
            if isHeader || time == nil && !caps.isRaw {
                enqueue(untimed: buffer, caps: caps, evicts: evicts, isHeader: isHeader)
            } else {
                enqueue(
                    buffer, caps: caps, time: time, duration: duration, live: live, evicts: evicts)
            }
        if case .dropped(.badFormat) = result {
            refusedFormats.refused(at: time, isFirst: gate.enteredElements == 0)
        }
        return result
    }

    /// The time that the buffers taken so far reach.
    var reached: MediaTime { stream.withLock { $0.reached } }

    func refuse(_ cause: DropCause) -> FrameDisposition {
        refused.withLock { $0[cause] += 1 }
        return .dropped(cause)
    }

    func enqueue(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime?, duration: MediaTime?,
        live: LiveTiming?, evicts: Bool
    ) -> FrameDisposition {
        guard let time else { return refuse(.noTime) }
        let (reordering, isDelta) = (buffer.reordering, buffer.isDelta)
        var pending: Buffer? = buffer
        return stream.withLock { stream in
            guard stream.isOpen else { return refuse(.closed) }
            if stream.offset == nil {
                let isReferred = !caps.isRaw && !caps.isSound
                let offset = timeline.offset(first: time, live, isReferred: isReferred)
                stream.offset = offset
                lead(&stream, by: time + offset < reordering ? Self.lead : .zero)
            }
            let delay = live?.playoutDelay ?? .zero
            guard let offset = stream.offset, let due = ClockTime(time + offset + delay) else {
                return refuse(.early)
            }
            // With B-frames, encoded frames come in decoding order: their times may go backwards.
            if let last = stream.last, MediaTime(due) < last, caps.isRaw {
                return refuse(.backwards)
            }
            if stream.inputIdentity != caps.identity, !stream.keepsFormat(of: caps) {
                guard choose(&stream, for: caps) else { return refuse(.badFormat) }
            }
            var fitted: Buffer?
            do throws(PipelineError) {
                if let taken = pending.take() { fitted = try fit(taken, &stream) }
            } catch {
                refusedFormats.note(naming(error, caps))
                return refuse(.badFormat)
            }
            // A resampler keeps the buffer and outputs it with the next one.
            guard let fitted = fitted.take() else { return .accepted }
            if isDelta, !stream.hasReferences, stream.caps?.isEncodedPictures == true {
                (stream.hasReferences, stream.dropsOldest) = (true, nil)
            }
            if stream.dropsOldest != evicts { bound(&stream, evicts) }
            if evicts { hasEvicted.store(true, ordering: .releasing) }
            if let cause = lack(&stream, isDelta) { return refuse(cause) }
            // Muxers count the last frame of a stream as zero long if they know no duration for it.
            let usual = stream.intervals.next(at: MediaTime(due))
            let frameDuration = duration ?? usual
            guard let stamp = ClockTime(MediaTime(due) + stream.lead),
                source.push(fitted.due(at: stamp, for: frameDuration.flatMap { ClockTime($0) }))
            else { return refuse(.closed) }
            stream.last = MediaTime(due)
            stream.reached = max(stream.reached, MediaTime(due) + (frameDuration ?? .zero))
            refusedFormats.taken()
            gate.entered()
            return .accepted
        }
    }

    /// How much later than its running time a buffer's timestamp is, where the first picture is
    /// decoded before time zero: no timestamp may be negative. One hour.
    private static let lead = MediaTime(nanoseconds: 3_600_000_000_000)

    private func lead(_ stream: inout Stream, by lead: MediaTime) {
        guard stream.lead != lead else { return }
        stream.lead = lead
        source.element.pad("src")?.delay(by: -lead.nanoseconds)
    }

    /// Writes a buffer without a time unchanged.
    private func enqueue(
        untimed: consuming Buffer, caps: Caps, evicts: Bool, isHeader: Bool
    ) -> FrameDisposition {
        var pending: Buffer? = untimed
        return stream.withLock { stream in
            guard stream.isOpen else { return refuse(.closed) }
            if stream.inputIdentity != caps.identity {
                guard choose(&stream, for: caps) else { return refuse(.badFormat) }
                if caps.isAny { source.countBytes() }
            }
            if stream.dropsOldest != evicts { bound(&stream, evicts) }
            if evicts { hasEvicted.store(true, ordering: .releasing) }
            guard let buffer = pending.take(), source.push(buffer) else {
                return refuse(.closed)
            }
            if isHeader { headers.add(1, ordering: .relaxed) }
            gate.entered()
            return .accepted
        }
    }

    /// Sends tags of the stream to the output's elements. Never blocks.
    func receive(_ tags: Tags) {
        stream.withLock { stream in
            guard stream.isOpen else { return }
            if stream.caps == nil { stream.tags.append(tags) } else { source.send(tags) }
        }
    }

    /// Decides how buffers with `caps` are converted, when the first of them comes.
    ///
    /// - Returns: False if no conversion makes them fit.
    private func choose(_ stream: inout Stream, for caps: Caps) -> Bool {
        let passage: OutputFormatAdapter.Passage
        do throws(PipelineError) {
            passage = try fitting.passage(of: caps, given: stream.caps)
        } catch {
            refusedFormats.note(error)
            return false
        }
        stream.converter = nil
        stream.input = caps
        switch passage {
        case .untouched(let caps): change(&stream, to: caps)
        case .asFirst: break
        case .converted(let chain, let renamed, let isFixed):
            stream.converter = chain
            stream.input = renamed
            stream.isFixed = isFixed
        }
        // Retained even if the converter gets other caps, so that no caps can get the same
        // identity.
        stream.given = caps
        stream.inputIdentity = caps.identity
        isUnconverted.store(stream.converter == nil, ordering: .relaxed)
        return true
    }

    /// Returns the buffer in a format that the output takes; `nil` if the converter keeps it until
    /// the next.
    private func fit(
        _ buffer: consuming Buffer, _ stream: inout Stream
    ) throws(PipelineError) -> Buffer? {
        guard let converter = stream.converter, let caps = stream.input else { return buffer }
        guard let output = try converter.processIfAny(buffer, caps: caps) else { return nil }
        if !stream.isFixed, stream.caps?.identity != output.caps.identity {
            change(&stream, to: output.caps)
        }
        return output.buffer.retained()
    }

    /// Adds the receiving element and the caps to a converter's error, which lacks both.
    private func naming(_ error: PipelineError, _ caps: Caps) -> PipelineError {
        guard error.element == nil, let receiver = source.receiver else { return error }
        var named = error
        named.element = receiver.path
        named.message = "\"\(receiver.factoryName)\" does not accept \(caps): \(error.message)"
        return named
    }

    /// Sets how many buffers may wait, once the caps and the policy (evict or wait) are known.
    private func bound(_ stream: inout Stream, _ evicts: Bool) {
        let limit =
            stream.caps.map { depth.limit(for: $0, isLive: evicts) } ?? OutputQueueDepth.least
        gate.setLimit(limit)
        stream.chain = evicts && stream.hasReferences ? ReferenceChain(isBroken: false) : nil
        source.configure(limit, dropsOldest: evicts && stream.chain == nil)
        stream.dropsOldest = evicts
    }

    /// Returns why an encoded frame is refused: the queue is full, or the frame refers to one that was refused. `nil`
    /// if it is not.
    private func lack(_ stream: inout Stream, _ isDelta: Bool) -> DropCause? {
        guard stream.chain != nil else { return nil }
        guard !source.isFull else {
            _ = stream.chain?.lose()
            return .queueFull
        }
        return stream.chain?.admits(isDelta ? .unitsBefore : .none) == false ? .needsKeyFrame : nil
    }

    private func change(_ stream: inout Stream, to caps: Caps) {
        (stream.dropsOldest, stream.hasReferences) = (nil, false)
        stream.caps = caps
        if !caps.isAny { source.setCaps(caps) }
        stream.tags.forEach { source.send($0) }
        stream.tags = []
    }
}
