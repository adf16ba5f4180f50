internal import Dispatch
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
    }
    private let state = Mutex(State())
    private let kind: Kind
    private let backend: any MediaBackend
    private let clock: EngineClock
    private let queue = DispatchQueue(label: "mediabridge.push.decode")
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

    /// - Parameter refused: Counts what does not get as far as the consumer.
    init(_ kind: Kind, backend: any MediaBackend, clock: EngineClock, refused: DropMeter) {
        self.refused = refused
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
        guard state.withLock({ $0.isRunning }) else { return refuse(.notStarted) }
        var unit = unit
        if unit.time == nil { unit.time = clock.now }
        switch units.post(Unit(source: Weak(self), frame: unit), whenFull: .wait(atMost: .zero)) {
        case .full: return refuse(.queueFull)
        case .closed: return refuse(.notStarted)
        case .taken, .takenForOldest:
            encodedBytes.add(unit.bytes.count, ordering: .relaxed)
            return .accepted
        }
    }

    private func decode(_ unit: EncodedVideoFrame) {
        let (isRunning, consumer, old) = state.withLock { state in
            (state.isRunning, state.consumer, state.codec == unit.codec ? nil : state.decoder)
        }
        guard isRunning, let consumer else { return }
        old?.stop()
        let present = state.withLock { $0.codec == unit.codec ? $0.decoder : nil }
        do {
            let decoder = try present ?? backend.makeDecoder(unit.codec, to: consumer)
            let isKept = state.withLock { state in
                guard state.isRunning else { return false }
                state.decoder = decoder
                state.codec = unit.codec
                return true
            }
            if isKept { _ = decoder.decode(unit) } else { decoder.stop() }
        } catch {
            consumer.sourceDidFail(error)
        }
    }

    // MARK: VideoSource

    var consumer: (any VideoFrameConsumer)? {
        get { state.withLock { $0.consumer } }
        set { state.withLock { $0.consumer = newValue } }
    }

    func bufferType() -> VideoBufferType { .pixelBuffer }
    func shouldInitialize() -> Bool { true }

    func shouldStart() {
        units.open()
        state.withLock { $0.isRunning = true }
    }

    func shouldStop() {
        units.abandon()
        let decoder = state.withLock { state in
            defer {
                state.isRunning = false
                state.decoder = nil
                state.codec = nil
            }
            return state.decoder
        }
        decoder?.stop()
    }

    func shouldDispose() { consumer = nil }
}

/// The sources that the program pushes to, by track: reached without waiting for the engine.
final class PushTable: Sendable {
    private let sources = Mutex<[TrackID: PushVideoSource]>([:])
    let refused = DropMeter()

    subscript(track: TrackID) -> PushVideoSource? {
        get { sources.withLock { $0[track] } }
        set { sources.withLock { $0[track] = newValue } }
    }
}
