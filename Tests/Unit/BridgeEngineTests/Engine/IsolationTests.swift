import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// A faulty renderer next to a working one: the working one misses no frame.
@Suite(.hangGuard, .balanced)
struct IsolationTests {
    let source = SourceScript("A")
    let bad = SinkScript()
    let good = SinkScript()

    private func running(
        _ options: SinkOptions = SinkOptions(), callTimeout: Duration = .seconds(5)
    ) async throws -> MediaEngine {
        let engine = makeEngine { $0.callTimeout = callTimeout }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(bad), options: options)
        try await engine.addVideoSink(ScriptedSink(good), to: .local())
        try await engine.startPreview()
        return engine
    }

    /// Delivers frames as fast as the working renderer accepts them.
    private func deliver(_ numbers: Range<Int>) async throws {
        for number in numbers {
            let result = try source.deliver(number)
            #expect(result == .accepted)
            await good.rendered(number + 1)
        }
    }

    private func counts(
        of engine: MediaEngine
    ) async throws -> (bad: EngineStatistics.Sink, good: EngineStatistics.Sink) {
        let id = await engine.mainSinkID
        // The working renderer has received every frame; its counts may lag behind.
        let all = await engine.statistics {
            $0.videoSinks.allSatisfy { $0.key == id || $0.value.balance.waiting == 0 }
        }.videoSinks
        return (
            try #require(all.first { $0.key == id }?.value),
            try #require(all.first { $0.key != id }?.value)
        )
    }

    @Test func stalledRendererIsReportedAndDoesNotAffectOthers() async throws {
        let hang = bad.block("render")
        let engine = try await running()
        let events = engine.events
        try await deliver(0..<1)
        await hang.entered()
        try await deliver(1..<50)
        engine.time.advance(by: .seconds(5))
        await events.first(named: "sinkStalled")
        let stalled = try await counts(of: engine)
        // One frame is inside, four wait, the others were evicted.
        #expect(stalled.bad.balance.offered == 50)
        #expect(stalled.bad.balance.dropped[.evicted] == 45)
        hang.signal()
        await bad.rendered(5)
        engine.time.advance(by: .milliseconds(100))
        await events.first(named: "sinkResumed")
        try await deliver(50..<60)
        await engine.shutDown()
        #expect(good.times.count == 60)
        #expect(good.frames.count == 60)
        #expect(bad.times == bad.times.sorted())
        let rest = await events.rest()
        #expect(rest.count("sinkStalled") == 0)
    }

    @Test func hangingRendererIsWaitedForOnce() async throws {
        let hang = bad.block("render")
        var options = SinkOptions()
        (options.whenFull, options.depth) = (.wait, 1)
        let engine = try await running(options)
        try await deliver(0..<1)
        await hang.entered()
        try await deliver(1..<2)
        async let delivery = blocking { [source] in try? source.deliver(2) }
        await engine.time.expire(engine.configuration.stallTimeout)
        #expect(await delivery == .accepted)
        try await deliver(3..<20)
        let (bad, good) = try await counts(of: engine)
        // The source waits for the first frame that finds no room; the others are evicted.
        #expect(bad.balance.dropped[.queueFull] == 1)
        #expect(bad.balance.dropped[.evicted] == 17)
        #expect(good.balance.delivered == 20)
        hang.signal()
        await engine.shutDown()
    }

    @Test func throwingRendererIsReportedOnceAndCounted() async throws {
        let engine = try await running()
        let events = engine.events
        bad.fail("render")
        try await deliver(0..<20)
        // Waiting frames are rendered or fail before the end.
        try await engine.stopPreview()
        bad.mend()
        try await engine.startPreview()
        try await deliver(20..<21)
        try await engine.stopPreview()
        bad.fail("render")
        try await engine.startPreview()
        try await deliver(21..<25)
        try await engine.stopPreview()
        let (bad, good) = try await counts(of: engine)
        #expect(bad.balance.dropped[.failed] + bad.balance.dropped[.evicted] == 24)
        #expect(bad.balance.delivered == 1)
        #expect(good.balance.delivered == 25)
        await engine.shutDown()
        let codes = await events.rest().codes("sinkFailed")
        #expect(codes == [.sinkFailed, .sinkFailed])
    }

    @Test func depthLimitsTheQueueOfARenderer() async throws {
        let hang = bad.block("render")
        var options = SinkOptions()
        options.depth = 2
        let engine = try await running(options)
        try await deliver(0..<1)
        await hang.entered()
        try await deliver(1..<10)
        let (bad, _) = try await counts(of: engine)
        #expect(bad.balance.dropped[.evicted] == 7)
        hang.signal()
        await self.bad.rendered(3)
        await engine.shutDown()
        #expect(self.bad.frames.count == 3)
    }

    @Test(arguments: [false, true])
    func theEndOfTheSourceIsReportedAfterItsLastFrameIsRendered(hangs: Bool) async throws {
        let hang = bad.block("render")
        // No other deadline is this long.
        let engine = try await running(callTimeout: .seconds(7))
        let events = engine.events
        try await deliver(0..<1)
        await hang.entered()
        try await deliver(1..<3)
        source.consumer?.sourceDidEnd()
        // A renderer that hangs is waited for until the deadline of a call.
        let ringing = Task {
            while hangs, !Task.isCancelled { await engine.time.ringNext(after: .seconds(7)) }
        }
        if !hangs { hang.signal() }
        await events.first(named: "sourceEnded")
        #expect(bad.frames.count == (hangs ? 0 : 3))
        ringing.cancel()
        await ringing.value
        if hangs { hang.signal() }
        await engine.shutDown()
    }

    @Test func aSourceThatWaitsForARendererCanBeStopped() async throws {
        let hang = bad.block("render")
        var options = SinkOptions()
        (options.whenFull, options.depth) = (.wait, 1)
        let engine = try await running(options)
        let pump = Pump(source)
        // The source's stop waits for its thread, and the thread waits for the renderer.
        source.state.withLock { $0.onCall = { if $0 == "shouldStop" { pump.join() } } }
        await good.rendered(2)
        // The thread of the source waits with the third frame.
        let id = try #require(await engine.mainSinkID)
        _ = await engine.statistics { $0.videoSinks[id]?.balance.offered == 3 }
        let events = engine.events
        let stop = Task { try await engine.stopPreview() }
        // The source gets half of the deadline, and is released although the renderer still hangs.
        await source.called("shouldStop")
        await engine.time.expire(engine.configuration.callTimeout / 2)
        await source.called("shouldDispose")
        hang.signal()
        try await stop.value
        await engine.shutDown()
        #expect(await events.rest().count("sourceFailed") == 0)
    }
}
