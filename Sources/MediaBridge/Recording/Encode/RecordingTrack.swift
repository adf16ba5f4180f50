internal import Synchronization

/// One stream of a recording: places each frame in the recorder's time and encodes it. If the size,
/// format, colorimetry, aspect ratio or interlacing of the pictures changes, a new encoder and a
/// new file are used; a change of the frame rate has no such effect. Audio is converted to its
/// initial sample rate and channels. Units of encoded media are passed on unchanged.
///
/// Thread: any, one writer at a time. Blocks if the encoder is slow and no frame may be lost. This
/// is decided for each frame and not for the encoder, because a file may follow a camera. Never
/// blocks with a lock held.
final class RecordingTrack: Sendable {
    let stream: RecordedStream
    private var kind: MediaKind { stream.kind }
    private let timeline: RecordingTimeline
    /// See ``RecordingSegments/isAligned``; `nil` if files do not end by the wall clock.
    private let aligned: RecordingSegments?
    private let whenFull: WhenFull
    private let inbox: RecordingInbox

    private enum Phase { case idle, open, closed }
    private struct State {
        var phase = Phase.idle
        var recipe: RecordingRecipe
        /// The factory names of encoders that failed.
        var broken: Set<String> = []
        var encoder: TrackEncoder?
        /// The codec and the encoder, for reports.
        var described: (codec: String, element: String)?
        /// See ``RecorderReport/Track/converted``.
        var converted: String?
        /// Why the units of encoded pictures are dropped until a key frame comes; `nil` if they are
        /// not dropped. ``DropCause/early`` before the first key frame.
        var missesKey: DropCause? = .early
        var unitTimes: LiveUnitTimes
        var repeated = RepeatedUnits()
        /// All encoders whose pipelines have not been shut down yet.
        var encoders: [TrackEncoder] = []
        var caps: Caps?
        var rotation = VideoRotation.upright
        var last: MediaTime?
        /// The time of the last frame handed over, not counting repetitions.
        var lastPlaced: MediaTime?
        var interval = MediaTime(nanoseconds: 40_000_000)
        /// Added to times after the source's times have restarted at an earlier time.
        var shift = MediaTime.zero
        /// Whether any frame was live; then the time that streams wait for each other is limited.
        var isLive = false
        /// Why the latest format was refused; see ``failure``.
        var failure: PipelineError?
        /// Whether an encoder could not be created.
        var hasFailed = false
        /// When the next file is due by the wall clock.
        var boundary: MediaTime?
        var offered = 0
        var drops = DropCounts()

        /// Counts a frame or unit, if they are accepted; otherwise returns why not.
        mutating func offer() -> DropCause? {
            switch phase {
            case .idle: return .notStarted
            // After the stop frames are not wanted, so they are not counted as lost.
            case .closed: return .closed
            case .open:
                offered += 1
                return nil
            }
        }
    }
    private let state: Mutex<State>
    private let holder = GStreamer.Holder()

    /// A jump back by more than this means that times have restarted: a source was restarted, or a
    /// clock was set.
    private static let restart = MediaTime(nanoseconds: 2_000_000_000)

    /// - Parameter whenFull: Whether callers wait for a slow encoder.
    init(
        _ stream: RecordedStream, recipe: RecordingRecipe, timeline: RecordingTimeline,
        segments: RecordingSegments?, whenFull: WhenFull, inbox: RecordingInbox
    ) {
        self.stream = stream
        self.timeline = timeline
        aligned = stream == .video && segments?.isAligned == true ? segments : nil
        self.whenFull = whenFull
        self.inbox = inbox
        state = Mutex(
            State(recipe: recipe, unitTimes: LiveUnitTimes(isReordered: stream == .video)))
    }

    /// Accepts frames from here on.
    func open() { state.withLock { if $0.phase == .idle { $0.phase = .open } } }

    /// Ends the current recording while the stream continues: the next frame becomes a key frame.
    ///
    /// - Parameter goesOn: Whether frames are accepted at once, rather than after the next
    ///   ``open()``.
    /// - Returns: The time of the last frame taken, and the time when the next is due; `nil` if
    ///   there was none.
    func cut(continues: Bool) -> (last: MediaTime, next: MediaTime)? {
        state.withLock { state in
            if !continues, state.phase == .open { state.phase = .idle }
            guard let last = state.last else { return nil }
            state.encoder?.forceKeyFrame(from: last + RecordingCut.instant)
            return (last, last + state.interval)
        }
    }

    /// Makes the next frame a key frame.
    func requestKeyFrame() {
        state.withLock { state in
            guard let last = state.last else { return }
            state.encoder?.forceKeyFrame(from: last + RecordingCut.instant)
        }
    }

    /// Stops accepting frames, and ends the encoder after those it has taken.
    ///
    /// - Returns: False if it was closed before.
    @discardableResult
    func close() -> Bool {
        let (isFirst, encoder) = state.withLock { state in
            defer { state.phase = .closed }
            return (state.phase != .closed, state.phase == .closed ? nil : state.encoder)
        }
        encoder?.endOfStream()
        if isFirst { inbox.put(.trackEnded(stream)) }
        return isFirst
    }

    /// What is added to times after the source's times have restarted.
    var shift: MediaTime { state.withLock { $0.shift } }

    /// The time of the last frame taken.
    var last: MediaTime? { state.withLock { $0.last } }

    var isClosed: Bool { state.withLock { $0.phase == .closed } }

    // MARK: Frames

    /// Counts a frame or unit and returns its place in the recorder's time.
    func place(
        _ time: MediaTime?, _ live: LiveTiming?, isUnit: Bool = false
    ) -> RecordingTimeline.Placement {
        if let cause = state.withLock({ $0.offer() }) { return .drop(cause) }
        guard let time else { return .drop(count(.noTime)) }
        switch timeline.place(time, live, of: stream) {
        case .drop(let cause): return .drop(count(cause))
        // Samples have their own continuity logic (``AudioContinuity``).
        case .at(let placed) where kind == .audio && !isUnit: return .at(placed)
        case .at(let placed):
            return .at(
                state.withLock { state in
                    let time = forward(placed, &state)
                    align(time, &state)
                    return time
                })
        }
    }

    /// Makes the first picture of each period by the wall clock a key frame.
    private func align(_ time: MediaTime, _ state: inout State) {
        guard let aligned else { return }
        if let boundary = state.boundary {
            guard time + Self.rounding >= boundary else { return }
            state.encoder?.forceKeyFrame(from: time)
        }
        state.boundary = aligned.end(ofFileAt: time, early: Self.rounding, timeline)
    }

    /// How much too early a time may be because it was rounded.
    private static let rounding = MediaTime(nanoseconds: 1_000_000)

    private func count(_ cause: DropCause) -> DropCause {
        state.withLock { $0.drops[cause] += 1 }
        return cause
    }

    /// Counts a frame as dropped for a cause.
    func refuse(_ cause: DropCause) -> FrameDisposition { .dropped(count(cause)) }

    /// Pushes a raw buffer. If the frame is live, the oldest queued buffer may be evicted for it;
    /// otherwise this blocks while the encoder is slow.
    ///
    /// - Parameter mayWait: False: the oldest buffer is evicted, regardless of the configuration.
    func push(
        _ buffer: consuming Buffer, caps: Caps, placed: MediaTime, duration: MediaTime?,
        rotation: VideoRotation = .upright, isLive: Bool, mayWait: Bool = true
    ) -> FrameDisposition {
        switch admit(caps, rotation, placed: placed, isLive: isLive) {
        case .refused(let cause): return .dropped(cause)
        case .admitted(let encoder):
            // Outside of the lock, because it may wait for room.
            return encoder.push(
                buffer, caps: caps, time: placed, duration: duration,
                evicts: !mayWait || !whenFull.waits(isLive: isLive))
        }
    }

    /// Whether the encoder accepts a buffer without blocking and without an eviction. Substitutes
    /// for missing data are pushed only then.
    var hasRoom: Bool { state.withLock { $0.encoder }?.hasRoom ?? false }

    private enum Admission {
        case refused(DropCause)
        case admitted(TrackEncoder)
    }

    /// - Parameter unit: The encoded frame that is recorded unchanged; `nil` for raw media.
    private func admit(
        _ caps: Caps, _ rotation: VideoRotation = .upright, copying unit: MediaSample? = nil,
        placed: MediaTime, isLive: Bool
    ) -> Admission {
        state.withLock { state in
            func refuse(_ cause: DropCause) -> Admission {
                state.drops[cause] += 1
                return .refused(cause)
            }
            // The times of reordered pictures may go back.
            if unit == nil, let last = state.last, placed < last { return refuse(.backwards) }
            if state.hasFailed { return refuse(.failed) }
            if needsEncoder(for: caps, rotation, state) {
                do throws(PipelineError) {
                    try change(&state, to: caps, rotation, copying: unit)
                } catch {
                    state.failure = error
                    inbox.put(.failed(error))
                    return refuse(.badFormat)
                }
            }
            guard let encoder = state.encoder else { return refuse(.failed) }
            if isLive, !state.isLive {
                state.isLive = true
                inbox.put(.live)
            }
            if let last = state.last, placed > last, placed - last < Self.restart {
                state.interval = placed - last
            }
            state.last = state.last.map { max($0, placed) } ?? placed
            return .admitted(encoder)
        }
    }

    /// Returns the time plus the shift. If times have restarted, the shift is set so that they
    /// continue where the stream is.
    private func forward(_ time: MediaTime, _ state: inout State) -> MediaTime {
        var due = time + state.shift
        if let last = state.lastPlaced, last - due > Self.restart {
            let next = max(last, state.last ?? last) + state.interval
            state.shift = state.shift + (next - due)
            due = next
        }
        state.lastPlaced = state.lastPlaced.map { max($0, due) } ?? due
        return due
    }

    // MARK: Encoders

    private func needsEncoder(
        for caps: Caps, _ rotation: VideoRotation, _ state: State
    ) -> Bool {
        guard let own = state.caps, own.mediaType == caps.mediaType else { return true }
        // A parser follows every change; the writer begins a new file where the header changes.
        guard kind == .video, caps.isRaw else { return false }
        if rotation != state.rotation { return true }
        if own.identity == caps.identity { return false }
        guard let old = VideoInfo(own), let new = VideoInfo(caps) else { return true }
        // A new frame rate changes only the times of the frames.
        return !old.hasSamePictures(as: new) || !own.hasSameBrightness(as: caps)
    }

    private func change(
        _ state: inout State, to caps: Caps, _ rotation: VideoRotation, copying unit: MediaSample?
    ) throws(PipelineError) {
        let pipeline: UnitPipeline
        if let unit {
            pipeline = try state.recipe.pipeline(copying: unit, stream)
        } else {
            guard caps.mediaType == "\(kind.rawValue)/x-raw" else { throw .notRaw(caps, stream) }
            pipeline = try state.recipe.pipeline(for: caps, rotation: rotation, stream)
        }
        let generation = inbox.begin(stream)
        let encoder: TrackEncoder
        do throws(PipelineError) {
            encoder = try TrackEncoder(
                stream, recipe: pipeline, caps: caps, inbox: inbox, generation: generation
            ) { [weak self] in self?.successor(of: $0, for: caps, rotation) }
        } catch {
            // Otherwise the writer would wait for the units of an encoder that does not exist.
            inbox.put(.ended(stream, generation: generation, error))
            state.hasFailed = true
            throw error
        }
        if let old = state.encoder { retire(old) }
        state.encoder = encoder
        state.encoders.append(encoder)
        state.caps = caps
        state.rotation = rotation
        state.described = (pipeline.codec, pipeline.element)
        if let converted = pipeline.converted { state.converted = converted }
        encoder.start()
    }

    /// Returns what encodes instead of an element that failed, here and after changes of the format; `nil` if nothing
    /// can.
    private func successor(
        of element: String, for caps: Caps, _ rotation: VideoRotation
    ) -> UnitPipeline? {
        let (recipe, broken) = state.withLock { state in
            state.broken.insert(element)
            return (state.recipe, state.broken)
        }
        // Without the lock: the next encoder is tried first.
        guard let next = try? recipe.without(broken),
            let pipeline = try? next.pipeline(for: caps, rotation: rotation, stream)
        else { return nil }
        state.withLock { state in
            state.recipe = next
            state.described = (pipeline.codec, pipeline.element)
            if let converted = pipeline.converted { state.converted = converted }
        }
        return pipeline
    }

    /// Shuts an encoder down after its last unit, and keeps its counts.
    private func retire(_ encoder: TrackEncoder) {
        encoder.endOfStream()
        ControlTask.start { [self] in
            // Its errors were reported when they were posted.
            try? await encoder.finish(stallTimeout: .seconds(10))
            state.withLock { state in
                guard let place = state.encoders.firstIndex(where: { $0 === encoder }) else {
                    return
                }
                state.encoders.remove(at: place)
                state.drops = state.drops + encoder.drops
            }
        }
    }

    // MARK: The end

    /// Waits until every encoder has delivered its last unit.
    func finish(stallTimeout: Duration) async throws(PipelineError) {
        var failure: PipelineError?
        for encoder in state.withLock({ $0.encoders }) {
            do throws(PipelineError) {
                try await encoder.finish(stallTimeout: stallTimeout)
            } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Unblocks callers that wait for room.
    func abandon() { state.withLock { $0.encoders }.forEach { $0.close() } }

    // MARK: Counts

    /// The codec and the encoder, for reports.
    var described: (codec: String, element: String) {
        state.withLock { $0.described ?? $0.recipe.described }
    }

    /// See ``RecorderReport/Track/converted``.
    var converted: String? { state.withLock { $0.converted } }

    /// Why the track refused a format, before the writer has made the recording fail; `nil` if it did not.
    var failure: PipelineError? { state.withLock { $0.failure } }

    /// Frames offered while the recorder accepted frames.
    var offered: Int { state.withLock { $0.offered } }

    /// Frames that no encoder accepted, or that were evicted from an encoder's queue.
    var drops: DropCounts {
        let (own, encoders) = state.withLock { ($0.drops, $0.encoders) }
        return encoders.map(\.drops).reduce(own, +)
    }
}

// MARK: - Encoded media

extension RecordingTrack {
    /// Drops the units of pictures up to the next key frame: the units before it reference units that
    /// never came.
    func expectKeyUnit() { state.withLock { $0.missesKey = $0.missesKey ?? .early } }

    /// Suspends until a frame or unit is taken without a wait.
    ///
    /// - Throws: ``PipelineError/Code/interrupted`` in a task that is cancelled while it waits.
    func untilRoom() async throws(PipelineError) {
        try await state.withLock { $0.encoder }?.untilRoom()
    }

    /// Counts a frame that was written to a recorder that was never started.
    func countUnstarted() {
        state.withLock { state in
            state.offered += 1
            state.drops[.notStarted] += 1
        }
    }

    /// Counts a unit whose bytes cannot be read.
    func refuseUnreadable() -> FrameDisposition {
        if let cause = state.withLock({ $0.offer() }) { return .dropped(cause) }
        return refuse(.badFormat)
    }

    /// Records a unit of encoded media unchanged. If pictures were lost before it, the units up to
    /// the next key frame are dropped for the same cause, since no decoder could show them.
    ///
    /// - Parameter onPlaced: Called with the unit's time in the recorder's time.
    func record(_ unit: MediaSample, onPlaced: (MediaTime) -> Void) -> FrameDisposition {
        let isKey = kind == .audio || !unit.buffer.isDelta
        let isLive = unit.liveTiming != nil
        let time =
            isLive ? state.withLock { $0.unitTimes.next(unit.runningTime) } : unit.runningTime
        if !isLive, let cause = refuse(repeated: unit) { return .dropped(cause) }
        if !isKey, let cause = skip(unit) { return .dropped(cause) }
        switch place(time, unit.liveTiming, isUnit: true) {
        case .drop(let cause): return miss(cause)
        case .at(let placed):
            onPlaced(placed)
            switch admit(unit.caps, copying: unit, placed: placed, isLive: isLive) {
            case .refused(let cause): return miss(cause)
            case .admitted(let encoder):
                // The oldest unit cannot be evicted: the units after it reference it.
                if !whenFull.waits(isLive: isLive), !encoder.hasRoom {
                    return miss(count(.evicted))
                }
                let disposition = encoder.push(
                    unit.buffer.retained(), caps: unit.caps, time: placed,
                    duration: unit.duration, evicts: false)
                if case .dropped(let cause) = disposition { return miss(cause) }
                if isKey { state.withLock { $0.missesKey = nil } }
                return disposition
            }
        }
    }

    /// Counts a unit that cannot be decoded, and returns why; `nil` if it can.
    private func skip(_ unit: MediaSample) -> DropCause? {
        state.withLock { state in
            if let caps = state.caps, caps.mediaType != unit.caps.mediaType {
                state.missesKey = state.missesKey ?? .early
            }
            guard let cause = state.missesKey, state.offer() == nil else { return nil }
            if cause == .early, state.drops[.early] == 0 { inbox.put(.event(.keyFrameAwaited)) }
            state.drops[cause] += 1
            return cause
        }
    }

    /// Counts a unit that was recorded before, and returns why it is dropped; `nil` if it is new.
    private func refuse(repeated unit: MediaSample) -> DropCause? {
        state.withLock { state in
            guard let time = unit.runningTime,
                state.repeated.take(time, byteCount: unit.byteCount), state.offer() == nil
            else { return nil }
            state.drops[.backwards] += 1
            return .backwards
        }
    }

    private func miss(_ cause: DropCause) -> FrameDisposition {
        state.withLock { if $0.missesKey == nil { $0.missesKey = cause } }
        return .dropped(cause)
    }
}

/// Recognises units that a source delivers again: hlsdemux fetches a segment again after a stall, and its times go
/// back. Other times that go back are those of other media.
struct RepeatedUnits {
    /// Pictures that are stored in another order than they are shown go back by no more than this.
    private static let reordering = MediaTime(nanoseconds: 500_000_000)
    /// A minute of pictures and sound.
    private static let most = 8_192

    private var sizes: [MediaTime: Int] = [:]
    /// The keys of ``sizes``, as a ring.
    private var times: [MediaTime] = []
    private var next = 0
    private var latest: MediaTime?
    private var isRepeating = false

    /// Takes the next unit.
    ///
    /// - Returns: Whether a unit of this size was taken before with this time, and times have gone back to it.
    mutating func take(_ time: MediaTime, byteCount: Int) -> Bool {
        if let latest, time <= latest, isRepeating || latest - time > Self.reordering {
            isRepeating = sizes[time] == byteCount
            if isRepeating { return true }
        } else {
            isRepeating = false
        }
        latest = latest.map { max($0, time) } ?? time
        if sizes.updateValue(byteCount, forKey: time) == nil {
            if times.count < Self.most {
                times.append(time)
            } else {
                sizes[times[next]] = nil
                times[next] = time
                next = (next + 1) % Self.most
            }
        }
        return false
    }
}

/// The times of the units of a live stream that is recorded without encoding.
///
/// A receiver corrects the times that it gives: rtpjitterbuffer (GStreamer 1.22,
/// `rtp_jitter_buffer_calculate_pts`) gives several units the time of the first while it catches up,
/// whereupon GstBaseParse gives the later ones none, because it takes an equal time for that of the
/// same buffer; and it goes back when its times are a second ahead of the arrival of the packets. A
/// file whose times stand still or go back does not play, so such units follow the latest one by a
/// millisecond each, the unit of time of Matroska.
struct LiveUnitTimes {
    private static let step = MediaTime(nanoseconds: 1_000_000)
    /// Pictures that are stored in another order than they are shown go back by no more than this.
    private static let reordering = MediaTime(nanoseconds: 500_000_000)
    /// If the times go back to more than this before the latest time returned, they have restarted:
    /// a receiver's corrections never add up to that much.
    private static let restart = MediaTime(nanoseconds: 2_000_000_000)

    private let isReordered: Bool
    /// The latest unit in the order of times: its time as it came, and as it was returned.
    private var latest: (given: MediaTime, returned: MediaTime)?
    /// The latest time returned before the last correction: no unit may go back beyond it.
    private var floor: MediaTime?

    /// - Parameter isReordered: Whether times may go back because of reordering.
    init(isReordered: Bool = true) { self.isReordered = isReordered }

    /// Returns the time of the next unit.
    ///
    /// - Parameter given: Its time as it came; `nil` if it has none.
    /// - Returns: `nil` if no unit has had a time yet.
    mutating func next(_ given: MediaTime?) -> MediaTime? {
        guard let latest else {
            latest = given.map { ($0, $0) }
            return given
        }
        var reached = given ?? latest.given
        if reached < latest.given {
            let isReordering = isReordered && latest.given - reached <= Self.reordering
            if !isReordering, latest.returned - reached > Self.restart {
                (self.latest, floor) = ((reached, reached), nil)
                return reached
            }
            if !isReordering {
                floor = latest.returned
            } else if floor.map({ reached > $0 }) ?? true {
                return reached
            } else {
                reached = latest.given
            }
        }
        let returned = max(reached, latest.returned + Self.step)
        self.latest = (reached, returned)
        return returned
    }
}
