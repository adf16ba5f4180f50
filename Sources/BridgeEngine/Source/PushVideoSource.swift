internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Push mode as a source like any other: what the program pushes is what it captures.
///
/// Thread: any for pushing, one push at a time.
final class PushVideoSource: VideoSource, Sendable {
    /// What may be pushed.
    enum Kind: Sendable {
        case pixelBuffers, bytes, encoded
    }
    private struct State {
        var consumer: (any VideoFrameConsumer)?
        var decoder: (any VideoDecoder)?
        var codec: EncodedVideoFrame.Codec?
        var isRunning = false
        /// No decoder could be made: told once, and not tried again before the next start.
        var isHopeless = false
        /// Of units as they are pushed, and as they come to the decoder.
        var pushed = ReferenceChain()
        var decoded = ReferenceChain()
    }
    /// Whether the units that come build on units that are there. After one that is not, pictures would be
    /// wrong and look right, until a key frame comes.
    private struct ReferenceChain {
        private var isBroken = true
        private var isTold = false

        /// Whether a unit may go on.
        mutating func admits(_ references: EncodedVideoFrameReferences) -> Bool {
            if references == .none { (isBroken, isTold) = (false, false) }
            return !isBroken || references == .noPicture
        }

        /// A unit is missing from here on.
        ///
        /// - Returns: Whether that is to be told.
        mutating func lose() -> Bool {
            defer { (isBroken, isTold) = (true, true) }
            return !isTold
        }
    }
    private let state = Mutex(State())
    private let kind: Kind
    private let backend: any MediaBackend
    private let clock: EngineClock
    private let queue = SerialQueue(label: "mediabridge.push.decode")
    /// Units that wait for the decoder to be made, or to take them.
    private let units: Mailbox<Unit>
    private let encodedBytes = Atomic<Int>(0)
    private static let depth = 32

    private struct Unit: Sendable {
        let source: Weak
        let frame: EncodedVideoFrame
    }
    private final class Weak: Sendable {
        weak let object: PushVideoSource?
        init(_ object: PushVideoSource) { self.object = object }
    }

    private let refused: DropMeter
    private let onLostUnits: @Sendable (Int) -> Void
    private let onKeyFrameNeeded: @Sendable () -> Void

    /// - Parameters:
    ///   - refused: Counts what does not get as far as the consumer.
    ///   - onLostUnits: Called with the number of units that no picture came of, for each decoder that ends.
    ///   - onKeyFrameNeeded: Called where units are refused until the next key frame, once for each time.
    init(
        _ kind: Kind, backend: any MediaBackend, clock: EngineClock, refused: DropMeter,
        onLostUnits: @escaping @Sendable (Int) -> Void,
        onKeyFrameNeeded: @escaping @Sendable () -> Void
    ) {
        self.onLostUnits = onLostUnits
        self.refused = refused
        self.onKeyFrameNeeded = onKeyFrameNeeded
        self.kind = kind
        self.backend = backend
        self.clock = clock
        units = Mailbox(depth: Self.depth, on: queue) { $0.source.object?.decode($0.frame) }
    }

    private let mark = Mutex<(bytes: Int, time: MediaTime)?>(nil)

    /// Bits a second that were pushed encoded, since it was asked before; `nil` where none were.
    func bitRate(at now: MediaTime) -> Int? {
        guard kind == .encoded else { return nil }
        let bytes = encodedBytes.load(ordering: .relaxed)
        return mark.withLock { mark in
            // Before the first unit there is nothing to measure from.
            guard bytes > 0 else { return 0 }
            defer { mark = (bytes, now) }
            guard let since = mark, now > since.time else { return 0 }
            return Int(Double(bytes - since.bytes) * 8 / (now - since.time).seconds)
        }
    }

    // MARK: Pushing

    func push(_ frame: ExternalVideoFrame) -> FrameDisposition {
        guard let consumer = state.withLock({ $0.consumer }) else { return refuse(.notStarted) }
        switch kind {
        case .encoded: return refuse(.wrongBufferType)
        case .bytes where frame.format == .pixelBuffer: return refuse(.wrongBufferType)
        case .pixelBuffers where frame.format != .pixelBuffer: return refuse(.wrongBufferType)
        default: break
        }
        switch frame.made(now: clock.now) {
        case .success(let made): return consumer.consume(made)
        case .failure(let refusal): return refuse(refusal.cause)
        }
    }

    private func refuse(_ cause: DropCause) -> FrameDisposition {
        refused.note(cause)
        return .dropped(cause)
    }

    func push(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard kind == .encoded else { return refuse(.wrongBufferType) }
        guard !unit.bytes.isEmpty else { return refuse(.badSize) }
        let (isRunning, isHopeless) = state.withLock { ($0.isRunning, $0.isHopeless) }
        guard isRunning else { return refuse(.notStarted) }
        guard !isHopeless else { return refuse(.undecodable) }
        let references = unit.references
        guard state.withLock({ $0.pushed.admits(references) }) else {
            if state.withLock({ $0.pushed.lose() }) { onKeyFrameNeeded() }
            return refuse(.needsKeyFrame)
        }
        var unit = unit
        if unit.time == nil { unit.time = clock.now }
        switch units.post(Unit(source: Weak(self), frame: unit), whenFull: .wait(atMost: .zero)) {
        case .full:
            if state.withLock({ $0.pushed.lose() }) { onKeyFrameNeeded() }
            return refuse(.queueFull)
        case .closed: return refuse(.notStarted)
        case .taken, .takenForOldest:
            mark.withLock { if $0 == nil { $0 = (0, clock.clockTime()) } }
            encodedBytes.add(unit.bytes.count, ordering: .relaxed)
            return .accepted
        }
    }

    /// On the queue.
    private func decode(_ unit: EncodedVideoFrame) {
        let (isRunning, consumer, present) = state.withLock { state in
            (state.isRunning && !state.isHopeless, state.consumer, state.decoder)
        }
        guard isRunning, let consumer else { return lose(.notStarted) }
        let references = unit.references
        let (isFit, isAdmitted) = state.withLock { state in
            let isFit = state.codec == unit.codec
            // Another decoder knows nothing of the units before.
            if !isFit { state.decoded = ReferenceChain() }
            return (isFit, state.decoded.admits(references))
        }
        guard isAdmitted else { return take(.dropped(.needsKeyFrame)) }
        if let present, isFit { return take(present.decode(unit)) }
        // Pictures of the codec before come out before those of the next.
        present?.drain()
        end(present)
        do {
            let decoder = try backend.makeDecoder(unit.codec, to: consumer)
            state.withLock { ($0.decoder, $0.codec) = (decoder, unit.codec) }
            take(decoder.decode(unit))
        } catch {
            state.withLock { ($0.decoder, $0.codec, $0.isHopeless) = (nil, nil, true) }
            lose(.undecodable)
            consumer.sourceDidFail(error)
        }
    }

    private func take(_ disposition: FrameDisposition) {
        guard case .dropped(let cause) = disposition else { return }
        lose(cause)
        if state.withLock({ $0.decoded.lose() }) { onKeyFrameNeeded() }
    }

    private func lose(_ cause: DropCause) { refused.note(cause) }

    private func end(_ decoder: (any VideoDecoder)?) {
        guard let decoder else { return }
        decoder.stop()
        onLostUnits(decoder.lostUnits)
    }

    /// Units that were taken, and no picture came of, in the decoder that is there.
    var lostUnits: Int { state.withLock { $0.decoder }?.lostUnits ?? 0 }

    // MARK: VideoSource

    var consumer: (any VideoFrameConsumer)? {
        get { state.withLock { $0.consumer } }
        set {
            // What it replaces is let go of outside of the lock.
            _ = state.withLock { state in
                defer { state.consumer = newValue }
                return state.consumer
            }
        }
    }

    func bufferType() -> VideoBufferType { .pixelBuffer }
    func shouldInitialize() -> Bool { true }

    func shouldStart() {
        units.open()
        state.withLock { state in
            (state.isRunning, state.isHopeless) = (true, false)
            (state.pushed, state.decoded) = (ReferenceChain(), ReferenceChain())
        }
    }

    func shouldStop() {
        let lost = units.abandon()
        if lost > 0 { refused.note(.notStarted, lost) }
        state.withLock { $0.isRunning = false }
        // Behind the unit that is being decoded.
        queue.sync {
            end(
                state.withLock { state in
                    defer { (state.decoder, state.codec) = (nil, nil) }
                    return state.decoder
                })
        }
    }

    func shouldDispose() { consumer = nil }
}

/// The sources that the program pushes to, by track: reached without waiting for the engine.
final class PushTable: Sendable {
    private let sources = Mutex<[TrackID: PushVideoSource]>([:])
    let refused = DropMeter()

    subscript(track: TrackID) -> PushVideoSource? {
        get { sources.withLock { $0[track] } }
        set {
            // What it replaces is let go of outside of the lock.
            _ = sources.withLock { sources in
                defer { sources[track] = newValue }
                return sources[track]
            }
        }
    }
}
