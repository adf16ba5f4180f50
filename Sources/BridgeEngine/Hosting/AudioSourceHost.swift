internal import MediaCore

/// Owns one audio source and calls it on an executor of its own.
actor AudioSourceHost: ObjectHost {
    nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let source: any AudioSource
    private var lifecycle: LifecycleState
    private var isQueried = false
    nonisolated let port: AudioSourcePort
    nonisolated let identity: ObjectIdentifier
    nonisolated let name: String
    nonisolated let typeName: String
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()

    init(
        _ source: sending any AudioSource, number: Int, to receiver: any AudioSourcePort.Receiver,
        trace: TransitionTrace
    ) {
        identity = ObjectIdentifier(source)
        typeName = String(describing: type(of: source))
        name = "audio source \(number)"
        let executor = SerialQueueExecutor(name)
        self.executor = executor
        self.trace = trace
        port = AudioSourcePort(to: receiver, from: executor)
        lifecycle = LifecycleState(name: name, typeName: typeName, trace: trace, codes: .source)
        self.source = source
    }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize:
            guard lifecycle.stage == .fresh, !isGivenUp else { return }
            query()
            source.consumer = port
            do throws(EngineError) { try lifecycle.initialize(source.shouldInitialize) } catch {
                source.consumer = nil
                throw error
            }
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

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent {
        .audioSourceFailed(error)
    }

    private func query() {
        guard !isQueried else { return }
        isQueried = true
        // Part of the query sequence. The value is not used, because each frame carries its format.
        _ = source.audioFormat()
        port.adopt(pacing: source.pacing(), base: source.timeBase())
        trace.note(name, .query, .succeeded)
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
    func perform<R: Sendable>(_ body: @Sendable (any AudioSource) throws -> R) rethrows -> R {
        try body(source)
    }
}
