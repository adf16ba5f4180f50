import BridgeEngine
import Dispatch
import MediaCore
import TestSupport
import Testing

/// The end of an engine in each of its states: nothing traps, hangs or stays behind.
@Suite(.deadline(minutes: 3), .balanced)
struct TearDownTests {
    enum Condition: CaseIterable {
        case fresh, previewing, joined, both, midSwap, midJoin, stuckSource, stalledRenderer
        case pendingPush, pushing, stalled, awaitingRestart
    }

    /// What is on the way when the end comes, and what lets it go.
    private struct Scene {
        var engine: MediaEngine
        let source = SourceScript("A")
        let sink = SinkScript()
        let transport = SlowTransport()
        var hangs: [DispatchSemaphore] = []
        var work: [Task<Void, any Error>] = []

        init(answers: Bool) {
            engine = makeEngine(transport: transport, isKept: false) { configuration in
                shortDeadlines(&configuration)
                configuration.stallLimit = .milliseconds(200)
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
            let isStarting = Happening()
            scene.hangs.append(next.block("shouldStart"))
            next.state.withLock { $0.onCall = { if $0 == "shouldStart" { isStarting.happen() } } }
            scene.work.append(Task { try await engine.setVideoSource(ScriptedSource(next)) })
            await isStarting.wait()
        case .midJoin:
            scene.work.append(Task { try await engine.joinChannel("room", userID: 1) })
            await scene.transport.isAsked.wait()
        case .stuckSource:
            scene.hangs.append(source.block("shouldStart"))
            try? await engine.startPreview()
        case .stalledRenderer:
            scene.hangs.append(sink.block("render"))
            try await engine.startPreview()
            for number in 0..<10 { try source.deliver(number) }
        case .pendingPush, .pushing:
            try await engine.startPreview()
            try await engine.setExternalVideoSource(enabled: true, useTexture: false)
            if condition == .pushing { engine.pushExternalVideoFrame(external()) }
        case .stalled:
            let events = engine.events
            try await engine.startPreview()
            try source.deliver(0)
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
        await scene.engine.shutDown()
        for hang in scene.hangs { hang.signal() }
        for work in scene.work { _ = await work.result }
        // Shut down, it holds nothing of the program's, although somebody still holds it.
        await scene.source.gone.wait()
        await scene.sink.gone.wait()
        scene.transport.answer.happen()
        if condition == .midJoin { await scene.transport.isLeft.wait() }
        expectPutAway(scene)
        let error = await #expect(throws: EngineError.self) {
            try await scene.engine.startPreview()
        }
        #expect(error?.code == .shutDown)
    }

    @Test(arguments: Condition.allCases)
    func release(_ condition: Condition) async throws {
        var (scene, events): (Scene, EngineEvents) = try await {
            let scene = try await arrange(condition)
            return (scene, scene.engine.events)
        }()
        weak let engine = scene.engine
        // Another takes the place, so that nobody holds this one.
        scene.engine = makeEngine()
        for work in scene.work { _ = await work.result }
        scene.work = []
        for hang in scene.hangs { hang.signal() }
        await scene.source.gone.wait()
        await scene.sink.gone.wait()
        // The events end where the engine does.
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

    @Test func theSourceIsKeptWhileItRunsAndLetGoAfter() async throws {
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

    @Test func twoShutDownsAreOne() async throws {
        let (engine, source) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.startPreview()
        async let first: Void = engine.shutDown()
        async let second: Void = engine.shutDown()
        _ = await (first, second)
        #expect(source.calls.filter { $0 == "shouldStop" }.count == 1)
    }
}
