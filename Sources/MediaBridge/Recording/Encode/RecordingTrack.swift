internal import Synchronization

/// One stream on its way into a recording: places each frame in the recorder's time, and encodes it. A
/// picture of another size, format, colour, shape or interlacing gets an encoder of its own, and a file of
/// its own; one of another frame rate does not. Sound is brought to the rate and channels that it had at
/// first.
///
/// Thread: any, one writer at a time; blocks where the encoder is slow and nothing may be lost, which is
/// decided for each frame and not for the encoder: a file may follow a camera. Never with a lock held.
final class RecordingTrack: Sendable {
    let kind: RecordingKind
    private let recipe: EncoderRecipe
    private let timeline: RecordingTimeline
    private let waits: Bool?
    private let inbox: RecordingInbox

    private enum Phase { case idle, open, closed }
    private struct State {
        var phase = Phase.idle
        var encoder: TrackEncoder?
        /// All that are not put away yet.
        var encoders: [TrackEncoder] = []
        var caps: Caps?
        var rotation = VideoRotation.none
        var last: MediaTime?
        /// Of the last frame that was handed over: none that stands in for another.
        var lastPlaced: MediaTime?
        var interval = MediaTime(nanoseconds: 40_000_000)
        /// What is added to times, once they began anew further back.
        var shift = MediaTime.zero
        /// Whether any frame was live, so that streams do not wait for each other for ever.
        var isLive = false
        /// No encoder can be made.
        var hasFailed = false
        var offered = 0
        var drops = DropCounts()
    }
    private let state = Mutex(State())

    /// Times that go back further have begun anew: a source was restarted, or a clock was set.
    private static let restart = MediaTime(nanoseconds: 2_000_000_000)

    /// - Parameter waits: Whether writers wait for a slow encoder; `nil`: not those of live frames.
    init(
        _ kind: RecordingKind, recipe: EncoderRecipe, timeline: RecordingTimeline, waits: Bool?,
        inbox: RecordingInbox
    ) {
        self.kind = kind
        self.recipe = recipe
        self.timeline = timeline
        self.waits = waits
        self.inbox = inbox
    }

    /// Takes frames from here on.
    func open() { state.withLock { if $0.phase == .idle { $0.phase = .open } } }

    /// The recording ends here, and the stream goes on: what comes next begins with a picture that builds
    /// on none.
    ///
    /// - Parameter goesOn: Whether frames are taken at once again, rather than after the next ``open()``.
    /// - Returns: The time of the last frame that was taken, and when the next is due.
    func cut(goesOn: Bool) -> (last: MediaTime, next: MediaTime)? {
        state.withLock { state in
            if !goesOn, state.phase == .open { state.phase = .idle }
            guard let last = state.last else { return nil }
            state.encoder?.forceKeyFrame(from: last + RecordingCut.instant)
            return (last, last + state.interval)
        }
    }

    /// Takes no more, and ends the encoder behind those that were taken.
    ///
    /// - Returns: False where it was closed before.
    @discardableResult
    func close() -> Bool {
        let (isFirst, encoder) = state.withLock { state in
            defer { state.phase = .closed }
            return (state.phase != .closed, state.phase == .closed ? nil : state.encoder)
        }
        encoder?.endOfStream()
        if isFirst { inbox.trackEnded(kind) }
        return isFirst
    }

    var isClosed: Bool { state.withLock { $0.phase == .closed } }

    // MARK: Frames

    /// Where a frame that is handed over belongs; counts it.
    func place(_ time: MediaTime?, _ live: LiveTiming?) -> RecordingTimeline.Placement {
        let isOpen = state.withLock { state -> DropCause? in
            switch state.phase {
            case .idle: return .notStarted
            // After the stop: not wanted, so not lost.
            case .closed: return .closed
            case .open:
                state.offered += 1
                return nil
            }
        }
        if let isOpen { return .drop(isOpen) }
        guard let time else { return .drop(count(.noTime)) }
        switch timeline.place(time, live, of: kind) {
        case .drop(let cause): return .drop(count(cause))
        // Sound has its own way to go on (``AudioContinuity``).
        case .at(let placed) where kind == .audio: return .at(placed)
        case .at(let placed): return .at(state.withLock { forward(placed, &$0) })
        }
    }

    private func count(_ cause: DropCause) -> DropCause {
        state.withLock { $0.drops[cause] += 1 }
        return cause
    }

    /// Counts a frame that cannot be taken.
    func refuse(_ cause: DropCause) -> FrameDisposition { .dropped(count(cause)) }

    /// Hands a raw buffer over: where the frame is live, the oldest that waits may give way to it;
    /// otherwise this blocks while the encoder is slow.
    ///
    /// - Parameter mayWait: False: the oldest gives way, whatever was asked for.
    func push(
        _ buffer: consuming Buffer, caps: Caps, placed: MediaTime, duration: MediaTime?,
        rotation: VideoRotation = .none, isLive: Bool, mayWait: Bool = true
    ) -> FrameDisposition {
        switch admit(caps: caps, placed: placed, rotation: rotation, isLive: isLive) {
        case .refused(let cause): return .dropped(cause)
        case .admitted(let encoder):
            // Not under the lock: it may wait for room.
            return encoder.push(
                buffer, caps: caps, time: placed, duration: duration,
                evicts: !mayWait || !(waits ?? !isLive))
        }
    }

    /// Whether the encoder takes a buffer without anybody waiting or giving way: one that stands in for
    /// what does not come is not worth more than that.
    var hasRoom: Bool { state.withLock { $0.encoder }?.hasRoom ?? false }

    /// Hands a frame over, suspended while the encoder is slow.
    func write(_ frame: VideoFrame, caps: Caps, placed: MediaTime) async throws -> FrameDisposition
    {
        switch admit(
            caps: caps, placed: placed, rotation: frame.rotation, isLive: frame.liveTiming != nil)
        {
        case .refused(let cause): return .dropped(cause)
        case .admitted(let encoder):
            var frame = frame
            frame.runningTime = placed
            // What it would add is in the time already.
            frame.liveTiming = nil
            return try await encoder.write(frame)
        }
    }

    private enum Admission {
        case refused(DropCause)
        case admitted(TrackEncoder)
    }

    private func admit(
        caps: Caps, placed: MediaTime, rotation: VideoRotation, isLive: Bool
    ) -> Admission {
        state.withLock { state in
            func refuse(_ cause: DropCause) -> Admission {
                state.drops[cause] += 1
                return .refused(cause)
            }
            if let last = state.last, placed < last { return refuse(.backwards) }
            if state.hasFailed { return refuse(.failed) }
            if needsEncoder(caps, rotation, state) {
                do throws(PipelineError) {
                    try change(&state, to: caps, rotation)
                } catch {
                    inbox.fail(error)
                    return refuse(.badFormat)
                }
            }
            guard let encoder = state.encoder else { return refuse(.failed) }
            if isLive, !state.isLive {
                state.isLive = true
                inbox.isLive()
            }
            if let last = state.last, placed - last < Self.restart {
                state.interval = placed - last
            }
            state.last = placed
            return .admitted(encoder)
        }
    }

    /// The time with what was added since it began anew: then it goes on where the stream is.
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

    private func needsEncoder(_ caps: Caps, _ rotation: VideoRotation, _ state: State) -> Bool {
        guard let own = state.caps else { return true }
        guard kind == .video else { return false }
        if rotation != state.rotation { return true }
        if own.identity == caps.identity { return false }
        guard let old = VideoInfo(own), let new = VideoInfo(caps) else { return true }
        // Another frame rate changes the times of the frames, and nothing else.
        return !old.hasSamePictures(as: new) || !own.hasSameBrightness(as: caps)
    }

    private func change(
        _ state: inout State, to caps: Caps, _ rotation: VideoRotation
    ) throws(PipelineError) {
        guard caps.mediaType == "\(kind.name)/x-raw" else { throw .notRaw(caps, kind) }
        let receiver = inbox.receiver(for: kind)
        let encoder: TrackEncoder
        do throws(PipelineError) {
            encoder = try TrackEncoder(
                kind, recipe: recipe, caps: caps, rotation: rotation, receiver: receiver)
        } catch {
            // Nobody waits for the units of an encoder that there is not.
            receiver.end(error)
            state.hasFailed = true
            throw error
        }
        if let old = state.encoder { retire(old) }
        state.encoder = encoder
        state.encoders.append(encoder)
        state.caps = caps
        state.rotation = rotation
        encoder.start()
    }

    /// Puts an encoder away behind its last unit, and keeps its counts.
    private func retire(_ encoder: TrackEncoder) {
        encoder.endOfStream()
        ControlTask.start { [self] in
            // What it posted was told when it did.
            try? await encoder.finish(patience: .seconds(10))
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

    /// Waits until every encoder has given its last unit.
    func finish(patience: Duration) async throws(PipelineError) {
        var failure: PipelineError?
        for encoder in state.withLock({ $0.encoders }) {
            do throws(PipelineError) {
                try await encoder.finish(patience: patience)
            } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Lets go of writers that wait.
    func abandon() { state.withLock { $0.encoders }.forEach { $0.close() } }

    // MARK: Counts

    /// Frames that were offered while the recorder took some.
    var offered: Int { state.withLock { $0.offered } }

    /// Frames that no encoder took, or that gave way in front of one.
    var drops: DropCounts {
        let (own, encoders) = state.withLock { ($0.drops, $0.encoders) }
        return encoders.map(\.drops).reduce(own, +)
    }
}

extension PipelineError {
    /// A recording encodes by itself.
    static func notRaw(_ caps: Caps, _ kind: RecordingKind) -> PipelineError {
        PipelineError(
            .streamFailed,
            message: "the stream \"\(kind.name)\" of a recording is \(caps.mediaType), and must be "
                + "\(kind.name)/x-raw",
            advice: caps.mediaType == "audio/x-raw"
                ? "name the appsink of sound: appsink name=audio"
                : "put decodebin at the end of the string")
    }
}
