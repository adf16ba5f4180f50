internal import MediaCore

/// Where one source lives.
actor SourceSeat: Seat {
    private enum Stage {
        case fresh, initialized, started
    }
    nonisolated let lane: Lane
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    private let source: any VideoSource
    private var stage = Stage.fresh
    private var isQueried = false
    nonisolated let port: SourcePort
    nonisolated let identity: ObjectIdentifier
    nonisolated let name: String
    nonisolated let typeName: String
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()

    init(
        _ source: sending any VideoSource, number: Int, to receiver: any SourcePort.Receiver,
        trace: TransitionTrace
    ) {
        identity = ObjectIdentifier(source)
        typeName = String(describing: type(of: source))
        name = "source \(number)"
        let lane = Lane(name)
        self.lane = lane
        self.trace = trace
        port = SourcePort(to: receiver, from: lane)
        self.source = source
    }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize: try initialize()
        case .start: try start()
        case .stop: try stop()
        case .dispose: try dispose()
        }
    }

    nonisolated func shut() { port.close() }

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent { .sourceFailed(error) }

    private func query() {
        guard !isQueried else { return }
        isQueried = true
        var traits = SourceTraits()
        traits.bufferType = source.bufferType()
        traits.captureType = source.captureType()
        // The encoders of a channel may want to know; asked in its place all the same.
        _ = source.contentHint()
        traits.pacing = source.pacing()
        traits.timeBase = source.timeBase()
        port.adopt(traits)
        trace.note(name, .query, .succeeded)
    }

    /// Query, where it was not done, and initialise. The consumer is there before the call.
    private func initialize() throws(EngineError) {
        guard stage == .fresh, !isGivenUp else { return }
        query()
        source.consumer = port
        var reason: (any Error)?
        do {
            guard try !source.shouldInitialize() else {
                trace.note(name, .initialize, .succeeded)
                stage = .initialized
                return
            }
            trace.note(name, .initialize, .refused)
        } catch {
            trace.note(name, .initialize, .threw)
            reason = error
        }
        source.consumer = nil
        throw EngineError(
            .sourceNotInitialized, call: "shouldInitialize",
            message: reason == nil
                ? "\(typeName) said no to shouldInitialize"
                : "\(typeName) failed in shouldInitialize", underlying: reason)
    }

    /// The gate opens when the source says that it started.
    private func start() throws(EngineError) {
        guard stage == .initialized, !isGivenUp else { return }
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
        // Nothing opens where it was given up meanwhile: that has closed the gate.
        port.open()
    }

    /// - Throws: What the source said; it counts as stopped all the same.
    private func stop() throws(EngineError) {
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
    private func dispose() throws(EngineError) {
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

    /// Runs `body` with the source, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any VideoSource) throws -> R) rethrows -> R {
        try body(source)
    }
}
