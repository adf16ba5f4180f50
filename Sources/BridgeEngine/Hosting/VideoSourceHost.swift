internal import MediaCore

/// Owns one video source and calls it on an executor of its own.
actor VideoSourceHost: ObjectHost {
    nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let source: any VideoSource
    private var lifecycle: LifecycleState
    private var isQueried = false
    nonisolated let port: VideoSourcePort
    nonisolated let identity: ObjectIdentifier
    nonisolated let name: String
    nonisolated let typeName: String
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()

    init(
        _ source: sending any VideoSource, number: Int, to receiver: any VideoSourcePort.Receiver,
        trace: TransitionTrace
    ) {
        identity = ObjectIdentifier(source)
        typeName = String(describing: type(of: source))
        name = "source \(number)"
        let executor = SerialQueueExecutor(name)
        self.executor = executor
        self.trace = trace
        port = VideoSourcePort(to: receiver, from: executor)
        lifecycle = LifecycleState(name: name, typeName: typeName, trace: trace, codes: .source)
        self.source = source
    }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize: try initialize()
        case .start: try start()
        case .stop:
            port.close()
            try lifecycle.stop(source.shouldStop)
        case .dispose:
            guard lifecycle.stage == .initialized else { return }
            defer { source.consumer = nil }
            try lifecycle.dispose(source.shouldDispose)
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
        // Part of the query sequence, for the encoders of a channel. The engine does not use the
        // value.
        _ = source.contentHint()
        traits.pacing = source.pacing()
        traits.timeBase = source.timeBase()
        port.adopt(traits)
        trace.note(name, .query, .succeeded)
    }

    /// Queries the source if that was not done before, and initialises it. The consumer is set
    /// before the call.
    private func initialize() throws(EngineError) {
        guard lifecycle.stage == .fresh, !isGivenUp else { return }
        query()
        source.consumer = port
        do throws(EngineError) { try lifecycle.initialize(source.shouldInitialize) } catch {
            source.consumer = nil
            throw error
        }
    }

    /// Starts the source. The gate opens when `shouldStart` has returned successfully.
    private func start() throws(EngineError) {
        guard lifecycle.stage == .initialized, !isGivenUp else { return }
        port.expectStart()
        do throws(EngineError) { try lifecycle.start(source.shouldStart) } catch {
            port.close()
            throw error
        }
        // Has no effect if the host was retired meanwhile: that has closed the gate.
        port.open()
    }

    /// Runs `body` with the source, on the host's executor.
    func perform<R: Sendable>(_ body: @Sendable (any VideoSource) throws -> R) rethrows -> R {
        try body(source)
    }
}
