internal import Synchronization

/// One appsrc of an output: its bounded queue, its times and its counts.
final class OutputBranch: VideoFrameConsumer {
    let name: String
    private let source: AppSource
    private let timeline: OutputTimeline
    private let room: Room
    private let depth: Int
    private let whenFull: PipelineVideoSink.WhenFull

    private let written = Written()
    private let farEnd: Pad?

    private struct Stream {
        var isOpen = false
        var caps: Caps?
        /// That of ``caps``, which is held so that no other caps can have it.
        var capsIdentity: UInt?
        var offset: MediaTime?
        var last: MediaTime?
        var dropsOldest: Bool?
        var depth: Int
        var drops = DropCounts()
    }
    /// Held through a push, so that two writers' buffers enter the queue in the order of their times.
    private let stream: Mutex<Stream>
    /// Present where the output encodes or muxes.
    private let geometry: FixedGeometry?
    private let failure = Mutex<PipelineError?>(nil)
    private let wrapper = BufferWrapper()

    init(
        name: String, source: AppSource, timeline: OutputTimeline, keepsGeometry: Bool,
        configuration: PipelineVideoSink.Configuration
    ) {
        self.name = name
        self.source = source
        self.timeline = timeline
        geometry = keepsGeometry ? FixedGeometry() : nil
        depth = max(1, configuration.depth)
        whenFull = configuration.whenFull
        room = Room(depth: depth)
        stream = Mutex(Stream(depth: depth))
        farEnd = source.farEnd
        source.configure(depth: depth, dropsOldest: false)
        // Not through self, which holds the pipeline: the probes live as long as its pads.
        source.onDeparture { [room] in room.departed() }
        farEnd?.onBuffer { [written] in written.tally.add() }
    }

    /// What the far end's probe holds.
    private final class Written: Sendable {
        let tally = Tally()
    }

    /// Begins to take buffers; forgets an earlier run.
    func open() {
        written.tally.reset()
        let depth = self.depth
        geometry?.reset()
        stream.withLock { $0 = Stream(isOpen: true, depth: depth) }
        room.reopen()
    }

    /// Takes no more, and lets go of writers that wait.
    func close() {
        stream.withLock { $0.isOpen = false }
        room.close()
    }

    var isOpen: Bool { stream.withLock { $0.isOpen } }

    func endOfStream() { source.endOfStream() }

    // MARK: Counts

    /// Buffers taken.
    var acceptedBuffers: Int { room.enteredElements }

    /// Buffers that reached the muxer, the payloader or the sink.
    var writtenBuffers: Int {
        farEnd == nil ? room.departedElements : written.tally.value
    }

    /// Buffers not taken, and those that gave way in the queue: exact once the queue stands still.
    var drops: DropCounts {
        var drops = stream.withLock { $0.drops }
        if stream.withLock({ $0.dropsOldest }) == true {
            let waiting = source.queuedBuffers
            drops[.evicted] += max(0, acceptedBuffers - room.departedElements - waiting)
        }
        return drops
    }

    /// Caps of what reaches the far end; `nil` before anything did.
    var writtenCaps: Caps? { farEnd?.caps }

    // MARK: Writing

    @discardableResult
    func consume(_ frame: VideoFrame) -> FrameDisposition {
        guard let wrapped = try? wrapper.wrap(frame) else { return refuse(.badFormat) }
        let caps = wrapped.caps
        return push(
            wrapped.buffer, caps: caps, time: frame.runningTime, live: frame.liveTiming)
    }

    /// Hands a frame over, suspended while the queue is full.
    ///
    /// - Throws: ``FrameError`` for memory that no output knows, ``PipelineError`` for a format.
    func write(_ frame: VideoFrame) async throws -> FrameDisposition {
        guard await room.wait(level: { [source] in source.queuedBuffers }) else {
            return refuse(.closed)
        }
        let wrapped = try wrapper.wrap(frame)
        let caps = wrapped.caps
        return enqueue(
            wrapped.buffer, caps: caps, time: frame.runningTime, live: frame.liveTiming,
            evicts: false)
    }

    private func waitForRoom() -> Bool {
        room.waitOnThread(level: { source.queuedBuffers })
    }

    /// Hands a buffer over. From a live capture it never blocks: the oldest in the queue gives way.
    /// Otherwise it blocks the calling thread while the queue is full.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime?, live: LiveTiming?
    ) -> FrameDisposition {
        let evicts: Bool
        switch whenFull {
        case .automatic: evicts = live != nil
        case .evictOldest: evicts = true
        case .wait: evicts = false
        }
        if !evicts, !room.isAmple, !waitForRoom() { return refuse(.closed) }
        return enqueue(buffer, caps: caps, time: time, live: live, evicts: evicts)
    }

    func refuse(_ cause: DropCause) -> FrameDisposition {
        stream.withLock { $0.drops[cause] += 1 }
        return .dropped(cause)
    }

    private func enqueue(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime?, live: LiveTiming?, evicts: Bool
    ) -> FrameDisposition {
        guard let time else { return refuse(.noTime) }
        var pending: Buffer? = buffer
        return stream.withLock { stream in
            func refuse(_ cause: DropCause) -> FrameDisposition {
                stream.drops[cause] += 1
                return .dropped(cause)
            }
            guard stream.isOpen else { return refuse(.closed) }
            if stream.offset == nil { stream.offset = timeline.offset(first: time, live) }
            guard let offset = stream.offset, let due = ClockTime(time + offset) else {
                return refuse(.early)
            }
            if let last = stream.last, MediaTime(due) < last, !isEncoded(caps) {
                return refuse(.backwards)
            }
            guard let taken = pending.take() else { return refuse(.badFormat) }
            let fitted: Buffer
            if let geometry {
                guard let result = fit(taken, caps, to: geometry) else { return refuse(.badFormat) }
                if stream.capsIdentity != result.caps.identity { change(&stream, to: result.caps) }
                fitted = result.buffer
            } else {
                if stream.capsIdentity != caps.identity { change(&stream, to: caps) }
                fitted = taken
            }
            if stream.dropsOldest != evicts {
                stream.dropsOldest = evicts
                source.configure(depth: stream.depth, dropsOldest: evicts)
            }
            guard source.push(fitted.due(at: due)) == .ok else { return refuse(.closed) }
            stream.last = MediaTime(due)
            room.entered()
            return .accepted
        }
    }

    /// The buffer as the output takes it; `nil` where it takes none of its kind.
    private func fit(
        _ buffer: consuming Buffer, _ caps: Caps, to geometry: FixedGeometry
    ) -> ElementChain.Output? {
        do {
            guard let converter = try geometry.converter(for: caps) else {
                return ElementChain.Output(buffer: buffer, caps: caps)
            }
            return try converter.process(buffer, caps: caps)
        } catch {
            failure.withLock { if $0 == nil { $0 = error } }
            return nil
        }
    }

    /// Why a buffer was refused for its format; the first.
    var formatFailure: PipelineError? { failure.withLock { $0 } }

    /// Pictures of an encoder with B-frames come in the order of decoding.
    private func isEncoded(_ caps: Caps) -> Bool {
        let type = caps.mediaType
        return type != "video/x-raw" && type != "audio/x-raw"
    }

    private func change(_ stream: inout Stream, to caps: Caps) {
        if caps.mediaType.hasPrefix("audio/") { stream.depth = max(stream.depth, 64) }
        room.setDepth(stream.depth)
        stream.dropsOldest = nil
        stream.caps = caps
        stream.capsIdentity = caps.identity
        source.setCaps(caps)
    }
}

extension Buffer {
    /// The same bytes, due at `time`. The header is copied only where it says otherwise and is shared.
    fileprivate consuming func due(at time: ClockTime) -> Buffer {
        guard presentationTime != time else { return self }
        let shift = presentationTime.map {
            Int64(clamping: time.nanoseconds) - Int64(clamping: $0.nanoseconds)
        }
        var own = withOwnHeader()
        own.decodingTime = own.decodingTime.flatMap { decoding in
            shift.flatMap {
                ClockTime(MediaTime(nanoseconds: Int64(clamping: decoding.nanoseconds) + $0))
            }
        }
        own.presentationTime = time
        return own
    }
}
