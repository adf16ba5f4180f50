internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// A video source whose frames the program pushes.
///
/// Thread: any for pushing, one push at a time.
final class PushVideoSource: VideoSource, Sendable {
    /// The kind of frame that may be pushed.
    enum Kind: Sendable {
        case pixelBuffers, bytes, encoded
    }
    private struct State {
        var consumer: (any VideoFrameConsumer)?
        var decoder: (any VideoDecoder)?
        var codec: EncodedVideoFrame.Codec?
        var isRunning = false
        /// No decoder could be created: reported once, and not tried again before the next start.
        var isHopeless = false
        /// The reference chain at the time of the push, and at the time of decoding.
        var pushed = ReferenceChain()
        var decoded = ReferenceChain()
    }
    /// Tracks whether the units that a unit depends on are present. If one is missing, the decoder
    /// would produce wrong pictures without an error, until a key frame comes.
    private struct ReferenceChain {
        private var isBroken = true
        private var isTold = false

        /// Returns whether a unit may be decoded.
        mutating func admits(_ references: EncodedVideoFrameReferences) -> Bool {
            if references == .none { (isBroken, isTold) = (false, false) }
            return !isBroken || references == .noPicture
        }

        /// Records that a unit is missing.
        ///
        /// - Returns: Whether that is to be reported.
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
    /// Units that wait until the decoder is created, or accepts them.
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
    ///   - refused: Counts the pushes that do not reach the consumer.
    ///   - onLostUnits: Called for each decoder that ends, with the number of units that produced
    ///     no picture.
    ///   - onKeyFrameNeeded: Called when units are refused until the next key frame, once for each
    ///     interruption.
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

    /// Returns the bits per second of the pushed encoded units since the previous call; zero if
    /// there is nothing to measure yet, `nil` if this source takes no encoded units.
    func bitRate(at now: MediaTime) -> Int? {
        guard kind == .encoded else { return nil }
        let bytes = encodedBytes.load(ordering: .relaxed)
        return mark.withLock { mark in
            // No interval begins before the first unit.
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

    /// Runs on `queue`.
    private func decode(_ unit: EncodedVideoFrame) {
        let (isRunning, consumer, present) = state.withLock { state in
            (state.isRunning && !state.isHopeless, state.consumer, state.decoder)
        }
        guard isRunning, let consumer else { return lose(.notStarted) }
        let references = unit.references
        let (isFit, isAdmitted) = state.withLock { state in
            let isFit = state.codec == unit.codec
            // A new decoder does not have the units before this one.
            if !isFit { state.decoded = ReferenceChain() }
            return (isFit, state.decoded.admits(references))
        }
        guard isAdmitted else { return take(.dropped(.needsKeyFrame)) }
        if let present, isFit { return take(present.decode(unit)) }
        // The pictures of the previous codec are delivered before those of the next one.
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

    /// The units that the current decoder accepted without producing a picture.
    var lostUnits: Int { state.withLock { $0.decoder }?.lostUnits ?? 0 }

    // MARK: VideoSource

    var consumer: (any VideoFrameConsumer)? {
        get { state.withLock { $0.consumer } }
        set {
            // The previous consumer is released outside the lock.
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
        // Runs after the unit that is being decoded.
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

/// Holds the sources to which the program pushes, by track, so that a push need not wait for the
/// engine.
final class PushTable: Sendable {
    private let sources = Mutex<[TrackID: PushVideoSource]>([:])
    let refused = DropMeter()

    subscript(track: TrackID) -> PushVideoSource? {
        get { sources.withLock { $0[track] } }
        set {
            // The previous source is released outside the lock.
            _ = sources.withLock { sources in
                defer { sources[track] = newValue }
                return sources[track]
            }
        }
    }
}
