import BridgeEngine
import MediaCore
import Synchronization
import TestSupport
import Testing

/// A source that fails: the failure is reported, and the source is restarted if configured.
@Suite(.hangGuard, .balanced)
struct RestartTests {
    let source = SourceScript("A")

    private func running(
        _ attempts: Int?? = .none
    ) async throws -> MediaEngine {
        let engine = try await made(attempts)
        try await engine.startPreview()
        return engine
    }

    /// For sources that fail during their start: listeners must subscribe before it.
    private func made(
        _ attempts: Int??
    ) async throws -> MediaEngine {
        let engine = makeEngine { configuration in
            guard let attempts else { return }
            var restart = RestartPolicy()
            restart.delay = .milliseconds(20)
            restart.attempts = attempts
            configuration.restart = restart
        }
        try await engine.setVideoSource(ScriptedSource(source))
        return engine
    }

    private func fail() { source.consumer?.sourceDidFail(Refusal(reason: "unplugged")) }

    /// Advances the time to a restart attempt; the delay doubles with each attempt.
    private func attempt(_ number: Int = 1, of engine: MediaEngine) async {
        await engine.time.expire(.milliseconds(20) * (1 << (number - 1)))
    }

    @Test func failureIsReportedWithoutAnAutomaticRestart() async throws {
        let engine = try await running()
        let (events, news) = (engine.events, engine.events)
        fail()
        await news.first(named: "sourceFailed")
        engine.time.advance(by: .seconds(10))
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.codes("sourceFailed") == [.sourceFailed])
        #expect(all.count("sourceRestarting") == 0)
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 1)
        let states = all.compactMap { event -> LocalMediaState? in
            if case .localState(.video(.main), let state) = event {
                return state
            } else {
                return nil
            }
        }
        #expect(states == [.failed, .stopped])
    }

    @Test func failedSourceIsReopenedAndDeliversAgain() async throws {
        let engine = try await running(.some(nil))
        let events = engine.events
        try source.deliver(0)
        fail()
        await attempt(of: engine)
        await events.first(named: "sourceRestarting")
        let isCapturing = await events.first { event -> Bool? in
            if case .localState(.video(.main), .capturing) = event {
                return true
            } else {
                return nil
            }
        }
        #expect(isCapturing == true)
        #expect(
            engine.sourceTrace.suffix(4)
                == ["stop", "dispose", "initialize", "start"].map { "source 1: \($0)" })
        let taken = try source.deliver(1)
        #expect(taken == .accepted)
        // The source fails and recovers again.
        fail()
        await attempt(2, of: engine)
        await events.first(named: "sourceRestarting")
        await engine.shutDown()
        #expect(source.violations == 0)
    }

    @Test func attemptsAreNumberedAndLimited() async throws {
        let engine = try await running(3)
        let (events, news) = (engine.events, engine.events)
        source.fail("shouldInitialize")
        fail()
        for number in 1...3 {
            await news.first(named: "sourceFailed")
            await attempt(number, of: engine)
        }
        await news.first(named: "sourceFailed")
        engine.time.advance(by: .seconds(10))
        let numbers = source.calls.filter { $0 == "shouldInitialize" }.count
        #expect(numbers == 4)
        await engine.shutDown()
        let all = await events.rest()
        let attempts = all.compactMap { event -> Int? in
            if case .sourceRestarting(_, let attempt) = event { return attempt } else { return nil }
        }
        #expect(attempts == [1, 2, 3])
        #expect(all.codes("sourceFailed").filter { $0 == .sourceNotInitialized }.count == 3)
    }

    @Test func sourceThatFailsOnStartRunsOutOfAttempts() async throws {
        source.whenStarted { $0.sourceDidFail(Refusal(reason: "no signal")) }
        let engine = try await made(3)
        let (events, news) = (engine.events, engine.events)
        try await engine.startPreview()
        for number in 1...3 {
            await attempt(number, of: engine)
            await news.first(named: "sourceRestarting")
            await news.first(named: "sourceFailed")
        }
        engine.time.advance(by: .seconds(10))
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 4)
        await engine.shutDown()
        #expect(await events.rest().count("sourceRestarting") == 3)
    }

    @Test func aSourceThatFailsAfterAFewFramesRunsOutOfAttempts() async throws {
        // Delivering a few frames before each failure does not count as a recovery, however often
        // it happens.
        source.whenStarted { consumer in
            for number in 0..<4 { if let frame = try? frame(number) { consumer.consume(frame) } }
            consumer.sourceDidFail(Refusal(reason: "no signal"))
        }
        let engine = try await made(2)
        let (events, news) = (engine.events, engine.events)
        try await engine.startPreview()
        for number in 1...2 {
            await attempt(number, of: engine)
            await news.first(named: "sourceRestarting")
            await news.first(named: "sourceFailed")
        }
        engine.time.advance(by: .seconds(10))
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 3)
        await engine.shutDown()
        #expect(await events.rest().count("sourceRestarting") == 2)
    }

    @Test func sourceThatDeliveredForAWhileRegainsItsAttempts() async throws {
        let backend = TestBackend()
        var restart = RestartPolicy()
        (restart.delay, restart.attempts) = (.milliseconds(20), 2)
        restart.recoveryTime = .seconds(10)
        let engine = makeEngine(backend) { $0.restart = restart }
        try await engine.setVideoSource(ScriptedSource(source))
        let events = engine.events
        try await engine.startPreview()
        var attempts: [Int] = []
        for round in 0..<6 {
            // In every second round, the source has run for long enough.
            let time = MediaTime(seconds: 1000 + Double(round / 2) * 20 + Double(round % 2))
            backend.time.advance(to: time)
            try source.deliver(round)
            fail()
            await self.attempt(round % 2 + 1, of: engine)
            let attempt = await events.first { event -> Int? in
                if case .sourceRestarting(_, let attempt) = event { attempt } else { nil }
            }
            attempts.append(try #require(attempt))
            _ = await events.first { event -> Bool? in
                if case .localState(.video(.main), .capturing) = event { true } else { nil }
            }
        }
        await engine.shutDown()
        #expect(attempts == [1, 2, 1, 2, 1, 2])
    }

    /// Delivers a live frame that was captured now.
    private func deliverLive(to engine: MediaEngine) throws {
        var live = try frame(0)
        live.liveTiming = LiveTiming(clockOrigin: MediaTime(engine.time.now), latency: .zero)
        source.consumer?.consume(live)
    }

    /// A camera that reboots may end its stream as if it were complete.
    @Test(arguments: [true, false]) func onlyALiveSourceThatEndsIsRestarted(isLive: Bool)
        async throws
    {
        let engine = try await running(.some(nil))
        let (events, news) = (engine.events, engine.events)
        if isLive { try deliverLive(to: engine) } else { try source.deliver(0) }
        source.consumer?.sourceDidEnd()
        if isLive {
            await news.first(named: "sourceFailed")
            await attempt(of: engine)
            await news.first(named: "sourceRestarting")
        } else {
            await news.first(named: "sourceEnded")
            engine.time.advance(by: .seconds(60))
        }
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("sourceRestarting") == (isLive ? 1 : 0))
        #expect(all.count("sourceEnded") == (isLive ? 0 : 1))
    }

    @Test func aLiveSourceThatIsSilentForTenSecondsIsRestarted() async throws {
        let engine = try await running(.some(nil))
        let news = engine.events
        try deliverLive(to: engine)
        engine.time.advance(by: .seconds(9))
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 1)
        // The attempt is due 20 ms after the failure.
        engine.time.advance(by: .milliseconds(1100))
        await news.first(named: "sourceFailed")
        await news.first(named: "sourceRestarting")
        _ = await news.first { event -> Bool? in
            if case .localState(.video(.main), .capturing) = event { true } else { nil }
        }
        // The wait is as long as before.
        engine.time.advance(by: .seconds(9))
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 2)
        try deliverLive(to: engine)
        engine.time.advance(by: .seconds(9))
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 2)
        await engine.shutDown()
    }

    @Test func nothingIsRestartedAfterAStop() async throws {
        let engine = try await running(.some(nil))
        let events = engine.events
        fail()
        try await engine.stopPreview()
        // A report from a stopped source is ignored.
        fail()
        try await engine.startPreview()
        engine.time.advance(by: .seconds(10))
        #expect(source.calls.filter { $0 == "shouldStart" }.count == 2)
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("sourceRestarting") == 0)
        #expect(all.count("sourceFailed") <= 1)
    }

    @Test func replacementOfAFailedSourceIsNotRestarted() async throws {
        let engine = try await running(.some(nil))
        let (events, news) = (engine.events, engine.events)
        source.fail("shouldInitialize")
        fail()
        await attempt(of: engine)
        await news.first(named: "sourceRestarting")
        let next = SourceScript("B")
        try next.deliverAtStart(0)
        try await engine.setVideoSource(ScriptedSource(next))
        await source.gone.wait()
        // Failures of the new source are counted separately.
        next.consumer?.sourceDidFail(Refusal(reason: "unplugged too"))
        await news.first(named: "sourceSwitched")
        await attempt(of: engine)
        await news.first(named: "sourceRestarting")
        await engine.shutDown()
        #expect(next.calls.filter { $0 == "shouldInitialize" }.count >= 1)
        #expect(await events.rest().count("sourceSwitched") == 1)
    }

    @Test func manualRestartNeedsARunningSource() async throws {
        let engine = makeEngine()
        let error = await #expect(throws: EngineError.self) {
            try await engine.restartVideoSource()
        }
        #expect(error?.code == .invalidState)
        await engine.shutDown()
    }

    @Test func failedAudioSourceIsReopenedAndDeliversAgain() async throws {
        let engine = makeEngine { configuration in
            configuration.hasVideo = false
            configuration.restart = RestartPolicy()
            configuration.restart?.delay = .milliseconds(20)
        }
        let (microphone, sink) = (Microphone(), SoundCollector())
        try await engine.addAudioSink(sink, to: .local)
        try await engine.setAudioSource(microphone)
        let (events, news) = (engine.events, engine.events)
        try await engine.startPreview()
        #expect(try microphone.deliver(0) == .accepted)
        microphone.consumer?.sourceDidFail(Refusal(reason: "unplugged"))
        await attempt(of: engine)
        await news.first(named: "sourceRestarting", of: .audio)
        _ = await news.first { event -> Bool? in
            if case .localState(.audio, .capturing) = event { return true } else { return nil }
        }
        #expect(try microphone.deliver(1) == .accepted)
        await sink.wait(for: 960)
        #expect(try sink.channel(0) == block(0) + block(1))
        await engine.shutDown()
        #expect(microphone.starts.load(ordering: .relaxed) == 2)
        let states = await events.rest().compactMap { event -> LocalMediaState? in
            if case .localState(.audio, let state) = event { return state } else { return nil }
        }
        #expect(states == [.capturing, .failed, .capturing, .stopped])
    }
}

/// An audio source that counts its starts.
private final class Microphone: AudioSource, Sendable {
    private let target = Mutex<(any AudioFrameConsumer)?>(nil)
    let starts = Atomic<Int>(0)

    var consumer: (any AudioFrameConsumer)? {
        get { target.withLock { $0 } }
        set { target.withLock { $0 = newValue } }
    }
    func shouldStart() { starts.add(1, ordering: .relaxed) }
    func shouldStop() {}
    func shouldDispose() {}

    func deliver(_ index: Int) throws -> FrameDisposition {
        let frame = try AudioFrame(
            copying: block(index), sampleRate: 48000, channels: 1,
            runningTime: MediaTime(value: Int64(index), timescale: 100))
        return consumer?.consume(frame) ?? .dropped(.notStarted)
    }
}
