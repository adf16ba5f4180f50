internal import MediaCore

/// Where one source of sound lives.
actor AudioSourceSeat: Seat {
    nonisolated let lane: Lane
    nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    private let source: any AudioSource
    private var stages: SeatStages
    private var isQueried = false
    nonisolated let port: AudioPort
    nonisolated let identity: ObjectIdentifier
    nonisolated let name: String
    nonisolated let typeName: String
    nonisolated let trace: TransitionTrace
    nonisolated let retirement = Retirement()

    init(
        _ source: sending any AudioSource, number: Int, to receiver: any AudioPort.Receiver,
        trace: TransitionTrace
    ) {
        identity = ObjectIdentifier(source)
        typeName = String(describing: type(of: source))
        name = "audio source \(number)"
        let lane = Lane(name)
        self.lane = lane
        self.trace = trace
        port = AudioPort(to: receiver, from: lane)
        stages = SeatStages(name: name, typeName: typeName, trace: trace, codes: .source)
        self.source = source
    }

    func make(_ call: Transition.Call) throws(EngineError) {
        switch call {
        case .query: query()
        case .initialize:
            guard stages.stage == .fresh, !isGivenUp else { return }
            query()
            source.consumer = port
            do throws(EngineError) { try stages.initialize(source.shouldInitialize) } catch {
                source.consumer = nil
                throw error
            }
        case .start: try start()
        case .stop:
            port.close()
            try stages.stop(source.shouldStop)
        case .dispose:
            guard stages.stage == .initialized else { return }
            defer { source.consumer = nil }
            try stages.dispose(source.shouldDispose)
        }
    }

    nonisolated func shut() { port.close() }

    nonisolated func failureEvent(_ error: EngineError) -> EngineEvent {
        .audioSourceFailed(error)
    }

    private func query() {
        guard !isQueried else { return }
        isQueried = true
        // Each frame says for itself what it is; asked in its place all the same.
        _ = source.audioFormat()
        port.adopt(pacing: source.pacing(), base: source.timeBase())
        trace.note(name, .query, .succeeded)
    }

    /// The gate opens when the source says that it started.
    private func start() throws(EngineError) {
        guard stages.stage == .initialized, !isGivenUp else { return }
        port.expectStart()
        do throws(EngineError) { try stages.start(source.shouldStart) } catch {
            port.close()
            throw error
        }
        // Nothing opens where it was given up meanwhile: that has closed the gate.
        port.open()
    }

    /// Runs `body` with the source, where it lives.
    func perform<R: Sendable>(_ body: @Sendable (any AudioSource) throws -> R) rethrows -> R {
        try body(source)
    }
}
