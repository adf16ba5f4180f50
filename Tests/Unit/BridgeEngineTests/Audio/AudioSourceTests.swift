import BridgeEngine
import MediaCore
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard, .balanced)
struct AudioSourceTests {
    /// Delivers when the test asks for it.
    private final class Tone: AudioSource, Sendable {
        private let target = Mutex<(any AudioFrameConsumer)?>(nil)
        let startFailure: Refusal?
        let disposal = Happening()
        /// The block that the source delivers from `shouldStart`; `nil` for none.
        let first: Int?
        init(startFailure: Refusal? = nil, first: Int? = nil) {
            self.startFailure = startFailure
            self.first = first
        }

        var consumer: (any AudioFrameConsumer)? {
            get { target.withLock { $0 } }
            set { target.withLock { $0 = newValue } }
        }
        func shouldStart() throws {
            if let startFailure { throw startFailure }
            if let first { _ = try deliver(first) }
        }
        func shouldStop() {}
        func shouldDispose() { disposal.happen() }

        func deliver(_ index: Int) throws -> FrameDisposition {
            let frame = try AudioFrame(
                copying: block(index), sampleRate: 48000, channels: 1,
                runningTime: MediaTime(value: Int64(index), timescale: 100))
            return consumer?.consume(frame) ?? .dropped(.notStarted)
        }
    }

    @Test func audioSourceFollowsTheStateMachine() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let tone = Tone()
        try await engine.setAudioSource(tone)
        #expect(engine.trace.isEmpty)
        #expect(try tone.deliver(0) == .dropped(.notStarted))
        try await engine.startPreview()
        #expect(try tone.deliver(0) == .accepted)
        try await engine.stopPreview()
        #expect(try tone.deliver(1) == .dropped(.notStarted))
        #expect(
            engine.trace == [
                "audio source 1: query", "audio source 1: initialize", "audio source 1: start",
                "audio source 1: stop", "audio source 1: dispose",
            ])
        await engine.shutDown()
    }

    /// Delivers all of its audio from `shouldStart`.
    private final class Short: AudioSource, Sendable {
        private let target = Mutex<(any AudioFrameConsumer)?>(nil)
        var consumer: (any AudioFrameConsumer)? {
            get { target.withLock { $0 } }
            set { target.withLock { $0 = newValue } }
        }
        func shouldStart() throws {
            let frame = try AudioFrame(
                copying: block(0), sampleRate: 48000, channels: 1, runningTime: .zero)
            consumer?.consume(frame)
            consumer?.sourceDidEnd()
        }
        func shouldStop() {}
        func shouldDispose() {}
    }

    @Test func endDuringStartIsReported() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let events = engine.events
        try await engine.setAudioSource(Short())
        try await engine.startPreview()
        let ended = await events.first { event in
            if case .sourceEnded(.audio) = event { true } else { nil }
        }
        #expect(ended == true)
        await engine.shutDown()
    }

    @Test func missingMicrophoneIsReportedAndVideoContinues() async throws {
        let engine = makeEngine()
        let events = engine.events
        try await engine.enableAudio()
        try await engine.startPreview()
        let error = await events.first { event in
            if case .sourceFailed(.audio, let error) = event { error } else { nil }
        }
        #expect(error?.code == .sourceNotInitialized)
        #expect(await engine.isPreviewing)
        let thrown = await #expect(throws: EngineError.self) {
            try await engine.setAudioSource(nil)
        }
        #expect(thrown?.code == .sourceNotInitialized)
        await engine.shutDown()
    }

    @Test func failedAudioSourceStartKeepsThePreviousSource() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let tone = Tone()
        try await engine.setAudioSource(tone)
        try await engine.startPreview()
        let error = await #expect(throws: EngineError.self) {
            try await engine.setAudioSource(Tone(startFailure: Refusal(reason: "no")))
        }
        #expect(error?.code == .sourceNotStarted)
        #expect(try tone.deliver(0) == .accepted)
        let other = Tone(first: 0)
        try await engine.setAudioSource(other)
        #expect(try tone.deliver(1) == .dropped(.notStarted))
        #expect(try other.deliver(1) == .accepted)
        await engine.shutDown()
    }

    @Test func silentAudioSourceKeepsThePreviousSource() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let (tone, mute) = (Tone(), Tone())
        try await engine.setAudioSource(tone)
        try await engine.startPreview()
        #expect(try tone.deliver(0) == .accepted)
        let change = Task { try await engine.setAudioSource(mute) }
        await engine.time.expire(engine.configuration.firstFrameTimeout)
        let error = await #expect(throws: EngineError.self) { try await change.value }
        #expect(error?.code == .noFrame)
        #expect(try tone.deliver(1) == .accepted)
        #expect(try mute.deliver(0) == .dropped(.notStarted))
        await mute.disposal.wait()
        await engine.shutDown()
    }

    @Test func audioSourceWithoutFramesKeepsThePreviousSource() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let tone = Tone()
        try await engine.setAudioSource(tone)
        try await engine.startPreview()
        let empty = Empty()
        let error = await #expect(throws: EngineError.self) {
            try await engine.setAudioSource(empty)
        }
        #expect(error?.code == .noFrame)
        #expect(try tone.deliver(0) == .accepted)
        await engine.shutDown()
    }

    /// Ends from `shouldStart`, without a frame.
    private final class Empty: AudioSource, Sendable {
        private let target = Mutex<(any AudioFrameConsumer)?>(nil)
        var consumer: (any AudioFrameConsumer)? {
            get { target.withLock { $0 } }
            set { target.withLock { $0 = newValue } }
        }
        func shouldStart() { consumer?.sourceDidEnd() }
        func shouldStop() {}
    }

    @Test func releasedEngineStopsAndDisposesItsSource() async throws {
        let (tone, sink) = (Tone(), SoundCollector())
        weak var gone: MediaEngine?
        do {
            let engine = makeEngine(isKept: false) { $0.hasVideo = false }
            gone = engine
            try await engine.setAudioSource(tone)
            try await engine.addAudioSink(sink, to: .local)
            try await engine.startPreview()
            _ = try tone.deliver(0)
            await sink.wait(for: 480)
        }
        await tone.disposal.wait()
        #expect(try tone.deliver(1) == .dropped(.notStarted))
        #expect(gone == nil)
    }

    @Test func stalledAudioSourceIsReportedOnceAndSoIsItsRecovery() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let events = engine.events
        let tone = Tone()
        try await engine.setAudioSource(tone)
        try await engine.startPreview()
        engine.time.advance(by: .seconds(5))
        await events.first(named: "sourceStalled", of: .audio)
        _ = try tone.deliver(0)
        engine.time.advance(by: .milliseconds(100))
        await events.first(named: "sourceResumed", of: .audio)
        await engine.shutDown()
        let rest = await events.rest()
        #expect(rest.count("sourceStalled") == 0 && rest.count("sourceResumed") == 0)
    }

    @Test func endAndFailureAreReported() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let events = engine.events
        let tone = Tone()
        try await engine.setAudioSource(tone)
        try await engine.startPreview()
        _ = try tone.deliver(0)
        tone.consumer?.sourceDidEnd()
        tone.consumer?.sourceDidFail(Refusal(reason: "unplugged"))
        await engine.shutDown()
        let all = await events.rest()
        #expect(all.count("firstAudio") == 1)
        #expect(all.contains { $0.name == "sourceEnded" && $0.track == .audio })
        #expect(all.contains { $0.name == "sourceFailed" && $0.track == .audio })
    }

    @Test func failedAudioSinkDoesNotAffectTheEngine() async throws {
        final class Broken: AudioSink {
            func shouldStart() throws { throw Refusal(reason: "no card") }
            func render(_ frame: AudioFrame) {}
        }
        let engine = makeEngine { $0.hasVideo = false }
        let events = engine.events
        let (tone, sink) = (Tone(), SoundCollector())
        try await engine.setAudioSource(tone)
        let broken = try await engine.addAudioSink(Broken(), to: .local)
        try await engine.addAudioSink(sink, to: .local)
        try await engine.startPreview()
        #expect(try tone.deliver(0) == .accepted)
        await sink.wait(for: 480)
        let failed = await events.first { event in
            if case .sinkFailed(let id, _) = event { id } else { nil }
        }
        #expect(failed == broken)
        let error = await #expect(throws: EngineError.self) {
            try await engine.addAudioSink(Broken(), to: .local)
        }
        #expect(error?.code == .sinkNotStarted)
        await engine.shutDown()
    }
}
