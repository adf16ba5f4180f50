import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Calls that do not return: the deadline expires, the error names the call, and the engine
/// continues.
@Suite(.hangGuard, .balanced)
struct HangTests {
    static let upward = ["shouldInitialize", "shouldStart"]
    static let downward = ["shouldStop", "shouldDispose"]

    @Test(arguments: upward)
    func sourceThatHangsDuringStartTimesOut(_ call: String) async throws {
        let engine = makeEngine()
        let (bad, good) = (SourceScript(), SourceScript())
        let hang = bad.block(call)
        let source = SharedSource(bad)
        try await engine.setVideoSource(source)
        let start = Task { try await engine.startPreview() }
        await engine.giveUp(hang)
        let error = await #expect(throws: EngineError.self) { try await start.value }
        #expect(error?.code == .stuck)
        #expect(error?.call == call)
        #expect(engine.sourceTrace.last?.hasSuffix("(stuck)") == true)
        // While the source hangs, the engine does not call it again, even if it is set again.
        let again = await #expect(throws: EngineError.self) { try await engine.startPreview() }
        #expect(again?.code == .stuck)
        try await engine.setVideoSource(ScriptedSource(good))
        try await engine.startPreview()
        let renamed = await #expect(throws: EngineError.self) {
            try await engine.setVideoSource(source)
        }
        #expect(renamed?.code == .stuck)
        let taken = try good.deliver(0)
        #expect(taken == .accepted)
        // The call returns, and the source is disposed of.
        let isPutAway = Happening()
        bad.state.withLock { $0.onCall = { if $0 == "shouldDispose" { isPutAway.happen() } } }
        hang.signal()
        await isPutAway.wait()
        let late = try bad.deliver(0)
        #expect(late == .dropped(.notStarted))
        #expect(bad.violations == 0)
        await engine.shutDown()
    }

    @Test func sourceMayBeReusedAfterAHang() async throws {
        let (engine, script) = (makeEngine(), SourceScript())
        let hang = script.block("shouldStart")
        try await engine.setVideoSource(ScriptedSource(script))
        let start = Task { try await engine.startPreview() }
        await engine.giveUp(hang)
        await #expect(throws: EngineError.self) { try await start.value }
        hang.signal()
        // Runs on the source's thread after the call and the disposal.
        await engine.videoSource?.perform { _ in }
        #expect(script.calls.last == "shouldDispose")
        try await engine.startPreview()
        let taken = try script.deliver(0)
        #expect(taken == .accepted)
        await engine.shutDown()
        #expect(script.violations == 0)
    }

    @Test(arguments: downward)
    func sourceThatHangsDuringStopIsReported(_ call: String) async throws {
        let engine = makeEngine()
        let (bad, good) = (SourceScript(), SourceScript())
        let hang = bad.block(call)
        try await engine.setVideoSource(ScriptedSource(bad))
        let events = engine.events
        try await engine.startPreview()
        let stop = Task { try await engine.stopPreview() }
        await engine.giveUp(hang)
        try await stop.value
        try await engine.setVideoSource(ScriptedSource(good))
        try await engine.startPreview()
        let taken = try good.deliver(0)
        #expect(taken == .accepted)
        hang.signal()
        await bad.gone.wait()
        #expect(bad.calls.suffix(2) == ["shouldStop", "shouldDispose"])
        await engine.shutDown()
        let codes = await events.rest().codes("sourceFailed")
        #expect(codes == [.stuck])
    }

    @Test(arguments: upward)
    func rendererThatHangsDuringStartDoesNotBlockTheEngine(_ call: String) async throws {
        let engine = makeEngine()
        let (source, bad, good) = (SourceScript(), SinkScript(), SinkScript())
        let hang = bad.block(call)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(bad))
        try await engine.addVideoSink(ScriptedSink(good), to: .local())
        let events = engine.events
        let start = Task { try await engine.startPreview() }
        await good.called("shouldStart")
        await engine.giveUp(hang)
        try await start.value
        try source.deliver(0)
        await good.rendered(1)
        try await engine.setLocalVideoRenderer(nil)
        hang.signal()
        await bad.gone.wait()
        #expect(bad.calls.last == "shouldDispose")
        #expect(bad.frames.isEmpty)
        await engine.shutDown()
        let codes = await events.rest().codes("sinkFailed")
        #expect(codes == [.stuck])
    }

    @Test(arguments: ["render", "shouldStop", "shouldDispose"])
    func hangingRendererIsAbandonedAtShutDown(_ call: String) async throws {
        let engine = makeEngine()
        let (source, bad, good) = (SourceScript(), SinkScript(), SinkScript())
        let hang = bad.block(call)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(bad))
        try await engine.addVideoSink(ScriptedSink(good), to: .local())
        try await engine.startPreview()
        try source.deliver(0)
        await good.rendered(1)
        let stop = Task { try await engine.stopPreview() }
        await good.called("shouldDispose")
        await engine.giveUp(hang)
        try await stop.value
        await engine.shutDown()
        hang.signal()
        await bad.gone.wait()
        #expect(bad.calls.suffix(2) == ["shouldStop", "shouldDispose"])
        #expect(bad.violations == 0)
    }

    @Test func searchForADefaultSourceTimesOut() async throws {
        let backend = SlowBackend()
        let engine = makeEngine(backend)
        let start = Task { try await engine.startPreview() }
        await engine.giveUp(backend.hang)
        let error = await #expect(throws: EngineError.self) { try await start.value }
        #expect(error?.code == .stuck)
        backend.hang.signal()
        await engine.shutDown()
    }
}

/// A backend whose devices do not respond.
final class SlowBackend: VirtualBackend {
    let inner = TestBackend()
    let hang = Hang()
    var time: VirtualTimeline { inner.time }
    func makeDefaultSource() throws -> sending any VideoSource {
        hang.wait()
        return ScriptedSource(inner.defaultScript)
    }
    func makeConverter() -> any VideoConverter { inner.makeConverter() }
    func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder { throw TestBackend.NoDecoder() }
}
