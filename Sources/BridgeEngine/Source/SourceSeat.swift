internal import MediaCore
internal import Synchronization

/// Where one source lives: the only place that calls it, one call at a time, on a lane of its own.
actor SourceSeat {
    private enum Stage {
        case fresh, initialized, started
    }
    nonisolated private let lane: Lane
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    private let source: any VideoSource
    private var stage = Stage.fresh
    private var isQueried = false
    /// Given up on: whatever call is under way, the source is put away when it returns.
    private var isRetired: Bool { isGivenUp }
    nonisolated let port: SourcePort
    /// Of the source object.
    nonisolated let identity: ObjectIdentifier
    /// `source 1`
    nonisolated let name: String
    /// The source's own type.
    nonisolated let typeName: String
    nonisolated private let trace: TransitionTrace

    init(
        _ source: sending any VideoSource, number: Int, to receiver: any SourcePort.Receiver,
        trace: TransitionTrace
    ) {
        identity = ObjectIdentifier(source)
        typeName = String(describing: type(of: source))
        name = "source \(number)"
        lane = Lane(name)
        self.trace = trace
        port = SourcePort(to: receiver)
        self.source = source
    }

    /// Query, where it was not done, and initialise. The consumer is there before the call.
    func initialize() throws(EngineError) {
        guard stage == .fresh else { return }
        if !isQueried { query() }
        source.consumer = port
        do {
            guard try source.shouldInitialize() else {
                trace.note(name, .initialize, .refused)
                source.consumer = nil
                throw EngineError(
                    .sourceNotInitialized, call: "shouldInitialize",
                    message: "\(typeName) said no to shouldInitialize")
            }
        } catch let error as EngineError {
            throw error
        } catch {
            trace.note(name, .initialize, .threw)
            source.consumer = nil
            throw EngineError(
                .sourceNotInitialized, call: "shouldInitialize",
                message: "\(typeName) failed in shouldInitialize", underlying: error)
        }
        trace.note(name, .initialize, .succeeded)
        stage = .initialized
        if isRetired { putAway() }
    }

    private func query() {
        isQueried = true
        var traits = SourceTraits()
        traits.bufferType = source.bufferType()
        traits.captureType = source.captureType()
        traits.contentHint = source.contentHint()
        traits.pacing = source.pacing()
        port.adopt(traits)
        trace.note(name, .query, .succeeded)
    }

    /// The gate opens when the source says that it started.
    func start() throws(EngineError) {
        guard stage == .initialized, !isRetired else { return }
        port.expectStart()
        do {
            try source.shouldStart()
        } catch {
            port.close()
            trace.note(name, .start, .threw)
            throw EngineError(
                .sourceNotStarted, call: "shouldStart",
                message: "\(typeName) failed in shouldStart", underlying: error)
        }
        trace.note(name, .start, .succeeded)
        stage = .started
        if isRetired { putAway() } else { port.open() }
    }

    /// - Throws: What the source said; it counts as stopped all the same.
    func stop() throws(EngineError) {
        port.close()
        guard stage == .started else { return }
        stage = .initialized
        do {
            try source.shouldStop()
            trace.note(name, .stop, .succeeded)
        } catch {
            trace.note(name, .stop, .threw)
            throw failure(of: "shouldStop", error)
        }
    }

    /// - Throws: What the source said; it counts as disposed of all the same.
    func dispose() throws(EngineError) {
        guard stage == .initialized else { return }
        stage = .fresh
        defer { source.consumer = nil }
        do {
            try source.shouldDispose()
            trace.note(name, .dispose, .succeeded)
        } catch {
            trace.note(name, .dispose, .threw)
            throw failure(of: "shouldDispose", error)
        }
    }

    private func failure(of call: String, _ error: any Error) -> EngineError {
        EngineError(
            .sourceFailed, call: call, message: "\(typeName) failed in \(call)", underlying: error)
    }

    /// Gives the source up: no frame comes from it any more, and it is stopped and disposed of as soon
    /// as the call that is under way returns.
    nonisolated func retire() {
        givenUp.store(true, ordering: .relaxed)
        port.close()
        Task { await putAway() }
    }

    nonisolated private let givenUp = Atomic<Bool>(false)
    /// Whether ``retire()`` was called.
    nonisolated var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    private func putAway() {
        // Nobody is left to tell.
        try? stop()
        try? dispose()
    }

    /// Says that a call did not come back in time.
    nonisolated func noteStuck(_ call: Transition.Call) { trace.note(name, call, .stuck) }

    /// Runs `body` with the source, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any VideoSource) throws -> R) rethrows -> R {
        try body(source)
    }
}
