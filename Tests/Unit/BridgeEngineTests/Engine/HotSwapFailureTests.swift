import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// A source that fails to take over: the previous source continues, and the call throws the reason.
@Suite(.hangGuard, .balanced)
struct HotSwapFailureTests {
    /// The fault of the new source, and the resulting error.
    enum Fault: CaseIterable {
        case saysNo, failsToInitialise, failsToStart, deliversNothing, failsAtOnce, endsAtOnce
        case deliversNoTimes, hangsInInitialise, hangsInStart

        var code: EngineError.Code {
            switch self {
            case .saysNo, .failsToInitialise: .sourceNotInitialized
            case .failsToStart: .sourceNotStarted
            case .deliversNothing, .endsAtOnce, .deliversNoTimes: .noFrame
            case .failsAtOnce: .sourceFailed
            case .hangsInInitialise, .hangsInStart: .stuck
            }
        }

        func afflict(_ script: SourceScript) {
            switch self {
            case .saysNo: script.refuse("shouldInitialize")
            case .failsToInitialise: script.fail("shouldInitialize")
            case .failsToStart: script.fail("shouldStart")
            case .deliversNothing: break
            case .failsAtOnce:
                script.whenStarted { $0.sourceDidFail(Refusal(reason: "unplugged")) }
            case .endsAtOnce: script.whenStarted { $0.sourceDidEnd() }
            case .deliversNoTimes:
                script.whenStarted { consumer in
                    guard var frame = try? frame(0) else { return }
                    frame.runningTime = nil
                    consumer.consume(frame)
                }
            case .hangsInInitialise, .hangsInStart: break
            }
        }

        /// The call that blocks until the semaphore is signalled.
        var hangingCall: String? {
            switch self {
            case .hangsInInitialise: "shouldInitialize"
            case .hangsInStart: "shouldStart"
            default: nil
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func failedSwitchKeepsThePreviousSource(_ fault: Fault) async throws {
        let engine = makeEngine()
        let (a, b, c, sink) = (
            SourceScript("A"), SourceScript("B"), SourceScript("C"), SinkScript()
        )
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        try a.deliver(0)
        fault.afflict(b)
        let hang = fault.hangingCall.map { b.block($0) }
        let swap = Task { try await engine.setVideoSource(ScriptedSource(b)) }
        switch fault {
        case .deliversNothing, .deliversNoTimes:
            await engine.time.expire(engine.configuration.firstFrameTimeout)
        default: if let hang { await engine.giveUp(hang) }
        }
        let error = await #expect(throws: EngineError.self) { try await swap.value }
        #expect(error?.code == fault.code)
        if let call = fault.hangingCall { #expect(error?.call == call) }
        let goesOn = try a.deliver(1)
        let shutOut = try b.deliver(1)
        #expect(goesOn == .accepted)
        #expect(shutOut == .dropped(.notStarted))
        hang?.signal()
        // The source is disposed of after every fault.
        await b.gone.wait()
        if b.calls.contains("shouldStart") || fault == .hangsInInitialise {
            #expect(b.calls.last == "shouldDispose")
        }
        // The next source can still take over.
        try c.deliverAtStart(2)
        try await engine.setVideoSource(ScriptedSource(c))
        await sink.rendered(3)
        await engine.shutDown()
        #expect(sink.names == ["A", "A", "C"])
    }

    @Test func missingDefaultSourceKeepsTheOldOneRunning() async throws {
        struct NoDefault: VirtualBackend {
            let inner = TestBackend()
            var time: VirtualTimeline { inner.time }
            func makeDefaultSource() throws -> sending any VideoSource {
                throw Refusal(reason: "no camera")
            }
            func makeConverter() -> any VideoConverter { inner.makeConverter() }
            func makeDecoder(
                _ codec: VideoCodec, to consumer: any VideoFrameConsumer
            ) throws -> any VideoDecoder { throw TestBackend.NoDecoder() }
        }
        let engine = makeEngine(NoDefault())
        let a = SourceScript("A")
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.startPreview()
        let error = await #expect(throws: EngineError.self) {
            try await engine.setVideoSource(nil)
        }
        #expect(error?.code == .sourceNotInitialized)
        #expect(await engine.videoSource != nil)
        let taken = try a.deliver(0)
        #expect(taken == .accepted)
        await engine.shutDown()
    }
}
