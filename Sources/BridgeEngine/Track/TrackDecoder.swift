internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Decodes the units of one stream while a receiver wants pictures. All receivers share one
/// decoder. It is created with the first unit that is wanted as a picture, and released with the
/// first that is not.
///
/// The decoder is called on a dedicated queue, so decoding takes no time on the source's thread.
/// Thread: any, one unit at a time.
final class TrackDecoder: Sendable {
    private struct State {
        var isWanted = false
        var decoder: (any VideoDecoder)?
        var codec: VideoCodec?
        /// No decoder could be created: reported once, and not retried before the next ``end()``.
        var hasGivenUp = false
        /// The reference chains of the units that were queued, and of the units that were decoded.
        var entered = ReferenceChain()
        var decoded = ReferenceChain()
        /// The counts of decoders that no longer exist.
        var lostBefore = 0
        var surplusBefore = 0

        var lostUnits: Int { lostBefore + (decoder?.lostUnits ?? 0) }
        var pictureSurplus: Int { surplusBefore + (decoder?.pictureSurplus ?? 0) }
    }
    private let state = Mutex(State())
    private let backend: any MediaBackend
    let output = DecodedFrameConsumer()
    private let queue = SerialQueue(label: "mediabridge.decode")
    /// Units that wait until the decoder is created, or accepts them.
    private let units: Mailbox<EncodedVideoFrame>
    private let clock: EngineClock
    private let queueTimeout: Duration
    /// Units to decode.
    private let offered = Atomic<Int>(0)
    /// Units that no decoder accepted, by cause.
    private let drops = DropMeter()
    private static let depth = 32

    /// - Parameter queueTimeout: How long a unit waits for room if none may be lost.
    init(_ backend: any MediaBackend, clock: EngineClock, queueTimeout: Duration) {
        self.backend = backend
        self.clock = clock
        self.queueTimeout = queueTimeout
        let reference = SelfReference<TrackDecoder>()
        units = Mailbox(depth: Self.depth, on: queue, of: clock.timeline) {
            reference.object?.work($0)
        }
        reference.object = self
    }

    /// Decodes a unit.
    ///
    /// - Returns: Whether the unit is queued; its later outcome is counted here.
    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition {
        offered.add(1, ordering: .relaxed)
        let references = unit.references
        let (isNew, refusal, isFirstLoss) = state.withLock { state -> (Bool, DropCause?, Bool) in
            defer { state.isWanted = true }
            if state.hasGivenUp { return (false, .undecodable, false) }
            guard state.entered.admits(references) else {
                return (!state.isWanted, .needsKeyFrame, state.entered.lose())
            }
            return (!state.isWanted, nil, false)
        }
        if isNew { units.open() }
        if isFirstLoss { output.track?.requestKeyFrame() }
        if let refusal { return drops.refuse(refusal) }
        switch units.post(unit, whenFull: .wait(atMost: clock.isOffline ? queueTimeout : .zero)) {
        case .taken, .acceptedByEvictingOldest: return .accepted
        case .full:
            if state.withLock({ $0.entered.lose() }) { output.track?.requestKeyFrame() }
            return drops.refuse(.queueFull)
        case .closed: return drops.refuse(.notStarted)
        }
    }

    /// Releases the decoder, because no receiver wants pictures or because other units follow.
    /// Waiting units are dropped. The next unit must be a key frame. Returns at once.
    func end() {
        let wasThere = state.withLock { state in
            let wasThere = state.isWanted || state.decoder != nil
            (state.isWanted, state.hasGivenUp, state.entered) = (false, false, ReferenceChain())
            return wasThere
        }
        guard wasThere else { return }
        let lost = units.abandon()
        if lost > 0 { drops.note(.notStarted, lost) }
        queue.async { [self] in release() }
    }

    /// Delivers the pictures of all units so far, then calls `body`. Returns at once.
    func finish(then body: @escaping @Sendable () -> Void) {
        guard state.withLock({ $0.isWanted }) else { return body() }
        queue.async { [self] in
            units.drain()
            state.withLock { $0.decoder }?.drain()
            state.withLock { ($0.entered, $0.decoded) = (ReferenceChain(), ReferenceChain()) }
            body()
        }
    }

    /// Calls `body` when the units so far are decoded and an ``end()`` is done. Returns at once.
    func settled(then body: @escaping @Sendable () -> Void) { queue.async(body) }

    /// Returns when the units so far are decoded and an ``end()`` is done, or after `limit`.
    func settled(within limit: Duration) async {
        await queue.outcome(within: limit, on: clock.timeline) {}
    }

    /// Returns the counts of the units to decode; units in the decoder count as waiting.
    ///
    /// - Parameter pictures: The number of pictures decoded from these units, read before.
    func balance(of pictures: Int) -> FrameBalance {
        var dropped = drops.all
        let surplus = state.withLock { state in
            dropped[.undecodable] += state.lostUnits
            return state.pictureSurplus
        }
        // Read last, so that no outcome is without its unit.
        return FrameBalance(
            offered: offered.load(ordering: .relaxed) + surplus, delivered: pictures,
            dropped: dropped)
    }

    // MARK: On the queue

    private func work(_ unit: EncodedVideoFrame) {
        let references = unit.references
        let (present, isFit, isAdmitted) = state.withLock { state in
            let isFit = state.decoder != nil && state.codec == unit.codec
            // A new decoder has not received the units before this one.
            if !isFit { state.decoded = ReferenceChain() }
            return (state.decoder, isFit, state.decoded.admits(references))
        }
        guard isAdmitted else { return lose(.needsKeyFrame) }
        guard !state.withLock({ $0.hasGivenUp }) else { return drops.note(.undecodable) }
        if let present, isFit { return give(unit, to: present) }
        // The pictures of the previous codec are delivered before those of the next one.
        present?.drain()
        release()
        do {
            let decoder = try backend.makeDecoder(unit.codec, to: output)
            state.withLock { ($0.decoder, $0.codec) = (decoder, unit.codec) }
            give(unit, to: decoder)
        } catch {
            state.withLock { $0.hasGivenUp = true }
            drops.note(.undecodable)
            output.sourceDidFail(error)
        }
    }

    private func give(_ unit: EncodedVideoFrame, to decoder: any VideoDecoder) {
        let disposition = clock.offer(for: queueTimeout, room: decoder.room) {
            decoder.decode(unit)
        }
        if case .dropped(let cause) = disposition { lose(cause) }
    }

    private func lose(_ cause: DropCause) {
        drops.note(cause)
        if state.withLock({ $0.decoded.lose() }) { output.track?.requestKeyFrame() }
    }

    private func release() {
        guard let decoder = state.withLock({ $0.decoder }) else { return }
        decoder.stop()
        state.withLock { state in
            (state.lostBefore, state.surplusBefore) = (state.lostUnits, state.pictureSurplus)
            (state.decoder, state.codec) = (nil, nil)
        }
    }
}

/// A track whose units are decoded. It owns the decoder.
protocol DecodedTrack: AnyObject, Sendable {
    /// Receives a picture, on the decoder's thread.
    func show(_ frame: consuming VideoFrame) -> FrameDisposition
    func decoderFailed(_ error: any Error)
    /// Called when units are dropped until the next key frame, once for each interruption.
    func requestKeyFrame()
}

/// Passes the pictures of a decoder on to its track.
///
/// Unchecked: `track` is set once, before the first unit.
final class DecodedFrameConsumer: VideoFrameConsumer, @unchecked Sendable {
    weak var track: (any DecodedTrack)?

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        track?.show(frame) ?? .dropped(.notStarted)
    }

    func sourceDidFail(_ error: any Error) { track?.decoderFailed(error) }
}
