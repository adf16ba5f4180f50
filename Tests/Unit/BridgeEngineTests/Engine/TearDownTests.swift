import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Shutting down an engine in each of its states: no trap, no hang, no leak.
@Suite(.hangGuard, .balanced)
struct TearDownTests {
    enum Condition: CaseIterable {
        case fresh, previewing, joined, both, midSwap, midJoin, stuckSource, stalledRenderer
        case pendingPush, pushing, stalled, awaitingRestart
    }

    /// An engine with the operations pending at its end, and what unblocks them.
    private struct Scene {
        var engine: MediaEngine
        let source = SourceScript("A")
        let sink = SinkScript()
        let transport = SlowTransport()
        var hangs: [Hang] = []
        var work: [Task<Void, any Error>] = []

        init(answers: Bool) {
            engine = makeEngine(transport: transport, isKept: false) { configuration in
                configuration.fallback = .lastPicture
                configuration.restart = .init()
            }
            if answers { transport.answer.happen() }
        }
    }

    private func arrange(_ condition: Condition) async throws -> Scene {
        var scene = Scene(answers: condition != .midJoin)
        let (engine, source, sink) = (scene.engine, scene.source, scene.sink)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        switch condition {
        case .fresh: break
        case .previewing: try await engine.startPreview()
        case .joined: try await engine.joinChannel("room", userID: 1)
        case .both:
            try await engine.startPreview()
            try await engine.joinChannel("room", userID: 1)
        case .midSwap:
            try await engine.startPreview()
            let next = SourceScript("B")
            let hang = next.block("shouldStart")
            scene.hangs.append(hang)
            scene.work.append(Task { try await engine.setVideoSource(ScriptedSource(next)) })
            await hang.entered()
        case .midJoin:
            scene.work.append(Task { try await engine.joinChannel("room", userID: 1) })
            await scene.transport.isAsked.wait()
        case .stuckSource:
            let hang = source.block("shouldStart")
            scene.hangs.append(hang)
            let start = Task { try await engine.startPreview() }
            await engine.giveUp(hang)
            _ = await start.result
        case .stalledRenderer:
            scene.hangs.append(sink.block("render"))
            try await engine.startPreview()
            for number in 0..<10 { try source.deliver(number) }
        case .pendingPush, .pushing:
            try await engine.startPreview()
            try await engine.setExternalVideoSource(.bytes)
            if condition == .pushing { engine.pushExternalVideoFrame(external()) }
        case .stalled:
            let events = engine.events
            try await engine.startPreview()
            try source.deliver(0)
            engine.time.advance(by: engine.configuration.stallTimeout + .milliseconds(100))
            await events.first(named: "sourceStalled")
        case .awaitingRestart:
            let events = engine.events
            try await engine.startPreview()
            source.consumer?.sourceDidFail(Refusal(reason: "unplugged"))
            await events.first(named: "sourceFailed")
        }
        return scene
    }

    @Test(arguments: Condition.allCases)
    func shutDown(_ condition: Condition) async throws {
        let scene = try await arrange(condition)
        await whileDeadlinesPass(on: scene.engine.time) { await scene.engine.shutDown() }
        for hang in scene.hangs { hang.signal() }
        for work in scene.work { _ = await work.result }
        // After shutdown, the engine holds no object of the program, even while the engine is still
        // referenced.
        await scene.source.gone.wait()
        await scene.sink.gone.wait()
        scene.transport.answer.happen()
        // The deadline of leaving may also have expired.
        if [.joined, .both, .midJoin].contains(condition) {
            await scene.transport.isLeft.wait()
        }
        expectPutAway(scene)
        let error = await #expect(throws: EngineError.self) {
            try await scene.engine.startPreview()
        }
        #expect(error?.code == .shutDown)
    }

    @Test(arguments: Condition.allCases)
    func release(_ condition: Condition) async throws {
        var (scene, events): (Scene, EventSequence<EngineEvent>) = try await {
            let scene = try await arrange(condition)
            return (scene, scene.engine.events)
        }()
        weak let engine = scene.engine
        // Another engine replaces this one, so that no reference to it remains.
        let (time, works) = (scene.engine.time, scene.work)
        scene.engine = makeEngine()
        scene.work = []
        await whileDeadlinesPass(on: time) { for work in works { _ = await work.result } }
        for hang in scene.hangs { hang.signal() }
        await scene.source.gone.wait()
        await scene.sink.gone.wait()
        // The events end with the engine.
        _ = await events.rest()
        #expect(engine == nil)
        scene.transport.answer.happen()
        if [.joined, .both, .midJoin].contains(condition) {
            await scene.transport.isLeft.wait()
        }
        expectPutAway(scene)
        await scene.engine.shutDown()
    }

    private func expectPutAway(_ scene: Scene) {
        let (source, sink) = (scene.source, scene.sink)
        if source.calls.contains("shouldStart") { #expect(source.calls.last == "shouldDispose") }
        if sink.calls.contains("shouldStart") { #expect(sink.calls.last == "shouldDispose") }
        #expect(source.violations + sink.violations == 0)
        #expect(scene.transport.network.channelNames.isEmpty)
    }

    @Test func sourceIsRetainedWhileItRuns() async throws {
        let (engine, source) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.startPreview()
        let taken = try source.deliver(0)
        #expect(taken == .accepted)
        #expect(!source.gone.hasHappened)
        try await engine.stopPreview()
        try await engine.setVideoSource(nil)
        await source.gone.wait()
        await engine.shutDown()
    }

    @Test func concurrentShutDownsStopTheSourceOnce() async throws {
        let (engine, source) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.startPreview()
        async let first: Void = engine.shutDown()
        async let second: Void = engine.shutDown()
        _ = await (first, second)
        #expect(source.calls.filter { $0 == "shouldStop" }.count == 1)
    }
}

/// Lets each call's deadline expire until `body` returns.
private func whileDeadlinesPass(
    on time: VirtualTimeline, _ body: () async -> Void
) async {
    let defaults = MediaEngine.Configuration()
    let passing = [defaults.callTimeout, defaults.joinTimeout].map { deadline in
        Task { while !Task.isCancelled { await time.ringNext(after: deadline) } }
    }
    await body()
    for task in passing {
        task.cancel()
        await task.value
    }
}
