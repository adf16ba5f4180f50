internal import Synchronization

/// One stream on its way into a recording: places each frame in the recorder's time, and encodes it. A
/// picture of another size or format gets an encoder of its own, and the file ends with the old one's
/// last unit. Sound is brought to the rate and channels that it had at first.
///
/// Thread: any, one writer at a time; blocks where the encoder is slow and nothing may be lost.
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
        /// All that were ever made, for their counts and their end.
        var encoders: [TrackEncoder] = []
        var caps: Caps?
        var rotation = VideoRotation.none
        var last: MediaTime?
        var offered = 0
        var drops = DropCounts()
        var failure: PipelineError?
    }
    private let state = Mutex(State())

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

    /// Takes no more, and ends the encoder behind those that were taken.
    func close() {
        let encoder = state.withLock { state in
            defer { state.phase = .closed }
            return state.phase == .closed ? nil : state.encoder
        }
        encoder?.endOfStream()
        inbox.trackEnded(kind)
    }

    /// Hands a raw buffer over.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime?, duration: MediaTime?,
        rotation: VideoRotation = .none, live: LiveTiming?
    ) -> FrameDisposition {
        let (encoder, placed): (TrackEncoder, MediaTime)
        switch admit(caps: caps, time: time, rotation: rotation, live: live) {
        case .refused(let cause): return .dropped(cause)
        case .admitted(let own, let place): (encoder, placed) = (own, place)
        }
        // Not under the lock: it may wait for room.
        return encoder.push(buffer, caps: caps, time: placed, duration: duration)
    }

    /// Hands a frame over, suspended while the encoder is slow.
    func write(_ frame: VideoFrame, caps: Caps) async throws -> FrameDisposition {
        switch admit(
            caps: caps, time: frame.runningTime, rotation: frame.rotation, live: frame.liveTiming)
        {
        case .refused(let cause): return .dropped(cause)
        case .admitted(let encoder, let placed):
            var frame = frame
            frame.runningTime = placed
            // What it would add is in the time already.
            frame.liveTiming = nil
            return try await encoder.write(frame)
        }
    }

    private enum Admission {
        case refused(DropCause)
        case admitted(TrackEncoder, MediaTime)
    }

    private func admit(
        caps: Caps, time: MediaTime?, rotation: VideoRotation, live: LiveTiming?
    ) -> Admission {
        state.withLock { state in
            func refuse(_ cause: DropCause) -> Admission {
                state.drops[cause] += 1
                return .refused(cause)
            }
            switch state.phase {
            case .idle: return .refused(.notStarted)
            // After the stop: not wanted, so not lost.
            case .closed: return .refused(.closed)
            case .open: break
            }
            state.offered += 1
            guard let time else { return refuse(.noTime) }
            let placed: MediaTime
            switch timeline.place(time, live, of: kind) {
            case .drop(let cause): return refuse(cause)
            case .at(let place): placed = place
            }
            if let last = state.last, placed < last { return refuse(.backwards) }
            if needsEncoder(caps, rotation, state) {
                do throws(PipelineError) {
                    try change(&state, to: caps, rotation, isLive: live != nil)
                } catch {
                    if state.failure == nil { state.failure = error }
                    inbox.fail(error)
                    return refuse(.badFormat)
                }
            }
            guard let encoder = state.encoder else { return refuse(.failed) }
            state.last = placed
            return .admitted(encoder, placed)
        }
    }

    private func needsEncoder(_ caps: Caps, _ rotation: VideoRotation, _ state: State) -> Bool {
        guard let own = state.caps else { return true }
        guard kind == .video else { return false }
        if rotation != state.rotation { return true }
        if own.identity == caps.identity { return false }
        guard let old = VideoInfo(own), let new = VideoInfo(caps) else { return true }
        return old.format != new.format || old.width != new.width || old.height != new.height
            || old.pixelAspectRatio != new.pixelAspectRatio
    }

    private func change(
        _ state: inout State, to caps: Caps, _ rotation: VideoRotation, isLive: Bool
    ) throws(PipelineError) {
        let encoder = try TrackEncoder(
            kind, recipe: recipe, caps: caps, evicts: !(waits ?? !isLive),
            receiver: inbox.receiver(for: kind, rotation))
        if let old = state.encoder { retire(old) }
        state.encoder = encoder
        state.encoders.append(encoder)
        state.caps = caps
        state.rotation = rotation
        if isLive { inbox.isLive() }
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
