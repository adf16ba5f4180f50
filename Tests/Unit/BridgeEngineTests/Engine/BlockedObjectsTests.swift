import BridgeEngine
import Dispatch
import MediaBasics
import MediaCore
import Synchronization
import TestSupport
import Testing

/// Hundreds of the program's objects hang at once. Dispatch has 255 threads per process.
@Suite(.hangGuard, .serialized)
struct BlockedObjectsTests {
    private static let many = 300

    @Test func threeHundredBlockedRenderersDoNotBlockTheEngine() async throws {
        let engine = makeEngine()
        let hang = DispatchSemaphore(value: 0)
        let isHanging = Arrivals(Self.many)
        let (source, good) = (SourceScript("A"), SinkScript())
        try await engine.setVideoSource(ScriptedSource(source))
        var bad: [SinkScript] = []
        for _ in 0..<Self.many {
            let script = SinkScript()
            script.whenRendering { _ in
                isHanging.arrive()
                hang.wait()
            }
            bad.append(script)
            try await engine.addVideoSink(ScriptedSink(script), to: .local())
        }
        try await engine.addVideoSink(ScriptedSink(good), to: .local())
        let events = engine.events
        try await engine.startPreview()
        #expect(try source.deliver(0) == .accepted)
        await good.rendered(1)
        await isHanging.all.wait()
        // All of them hang. The engine still responds, its timers run, and a new object gets a
        // thread.
        engine.time.advance(by: .seconds(5))
        await events.first(named: "sinkStalled")
        let late = SinkScript()
        try await engine.addVideoSink(ScriptedSink(late), to: .local())
        #expect(try source.deliver(40) == .accepted)
        await late.rendered(1)
        await good.rendered(2)
        for _ in 0..<Self.many { hang.signal() }
        for script in bad { script.state.withLock { $0.onRender = nil } }
        // Releases the renderers that wait for their second frame.
        for _ in 0..<Self.many { hang.signal() }
        await engine.shutDown()
        #expect(good.frames.count == 2)
    }

    @Test func deadlinesPassWhileThreeHundredCallsHang() async throws {
        let hang = DispatchSemaphore(value: 0)
        let (backend, isHanging) = (TestBackend(), Arrivals(Self.many))
        var engines: [(MediaEngine, SourceScript)] = []
        for _ in 0..<Self.many {
            let source = SourceScript()
            source.whenStarted { _ in
                isHanging.arrive()
                hang.wait()
            }
            let engine = makeEngine(backend)
            try await engine.setVideoSource(ScriptedSource(source))
            engines.append((engine, source))
        }
        let codes = await withTaskGroup(of: EngineError.Code?.self) { group in
            for (engine, _) in engines {
                group.addTask {
                    do throws(EngineError) {
                        try await engine.startPreview()
                        return nil
                    } catch { return error.code }
                }
            }
            await isHanging.all.wait()
            await backend.time.expire(.seconds(5), alarms: Self.many)
            return await group.reduce(into: [EngineError.Code?]()) { $0.append($1) }
        }
        #expect(codes.count == Self.many && codes.allSatisfy { $0 == .stuck })
        for _ in 0..<Self.many { hang.signal() }
        for (engine, source) in engines {
            await engine.shutDown()
            _ = source
        }
    }

    @Test func queueRunsWhileThreeHundredOthersAreBlocked() async {
        let hang = DispatchSemaphore(value: 0)
        let isHanging = Arrivals(Self.many)
        for number in 0..<Self.many {
            SerialQueue(label: "blocked \(number)").async {
                isHanging.arrive()
                hang.wait()
            }
        }
        await isHanging.all.wait()
        let (isRun, isDue, hasBeaten) = (Happening(), Happening(), Arrivals(3))
        let queue = SerialQueue(label: "free")
        queue.async { isRun.happen() }
        let timer = OneShotTimer(after: .milliseconds(10)) { isDue.happen() }
        let beat = Heartbeat(every: .milliseconds(5), on: queue) { hasBeaten.arrive() }
        await isRun.wait()
        await isDue.wait()
        await hasBeaten.all.wait()
        // Each wait also returns when the test's deadline cancels it.
        #expect(isRun.hasHappened && isDue.hasHappened && hasBeaten.all.hasHappened)
        beat.cancel()
        timer.cancel()
        for _ in 0..<Self.many { hang.signal() }
    }
}

/// Reports when `count` arrivals have happened.
final class Arrivals: Sendable {
    private let missing: Atomic<Int>
    let all = Happening()

    init(_ count: Int) { missing = Atomic(count) }

    func arrive() {
        if missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { all.happen() }
    }
}
