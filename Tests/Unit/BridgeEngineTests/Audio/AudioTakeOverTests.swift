import BridgeEngine
import Dispatch
import MediaCore
import Synchronization
import TestSupport
import Testing

/// Source changes and hanging sinks do not affect other sources and sinks.
@Suite(.hangGuard)
struct AudioTakeOverTests {
    private final class Source: AudioSource, Sendable {
        private let target = Mutex<(any AudioFrameConsumer)?>(nil)
        private let onStart: @Sendable (Source) throws -> Void
        let engineKeepsTime: Bool

        init(
            engineKeepsTime: Bool = false,
            onStart: @escaping @Sendable (Source) throws -> Void = { _ in }
        ) {
            self.engineKeepsTime = engineKeepsTime
            self.onStart = onStart
        }
        var consumer: (any AudioFrameConsumer)? {
            get { target.withLock { $0 } }
            set { target.withLock { $0 = newValue } }
        }
        func needsPacing() -> Bool { engineKeepsTime }
        func shouldStart() throws { try onStart(self) }
        func shouldStop() {}
        func shouldDispose() {}

        @discardableResult
        func deliver(_ index: Int) throws -> FrameDisposition {
            let frame = try AudioFrame(
                copying: block(index), sampleRate: 48000, channels: 1,
                runningTime: MediaTime(value: Int64(index), timescale: 100))
            return consumer?.consume(frame) ?? .dropped(.notStarted)
        }
    }

    @Test func oldSourcePlaysWhileTheNewOneFailsToStart() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let (old, sink) = (Source(), SoundCollector())
        try await engine.addAudioSink(sink, to: .local)
        try await engine.setAudioSource(old)
        try await engine.startPreview()
        let answers = Mutex<[FrameDisposition]>([])
        let broken = Source { new in
            for index in 0..<10 {
                let answer = try old.deliver(index)
                answers.withLock { $0.append(answer) }
            }
            // The new source delivers a frame and then fails.
            try new.deliver(90)
            throw Refusal(reason: "no")
        }
        let error = await #expect(throws: EngineError.self) {
            try await engine.setAudioSource(broken)
        }
        #expect(error?.code == .sourceNotStarted)
        #expect(answers.withLock { $0 } == [FrameDisposition](repeating: .accepted, count: 10))
        #expect(try old.deliver(10) == .accepted)
        await sink.wait(for: 11 * 480)
        #expect(try sink.channel(0) == (0..<11).flatMap { block($0) })
        await engine.shutDown()
    }

    @Test func audioDeliveredDuringStartIsMixed() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let (old, sink) = (Source(), SoundCollector())
        try await engine.addAudioSink(sink, to: .local)
        try await engine.setAudioSource(old)
        try await engine.startPreview()
        try old.deliver(0)
        let next = Source { try $0.deliver(1) }
        try await engine.setAudioSource(next)
        #expect(try old.deliver(2) == .dropped(.notStarted))
        #expect(try next.deliver(2) == .accepted)
        await sink.wait(for: 3 * 480)
        #expect(Array(try sink.channel(0).suffix(960)) == block(1) + block(2))
        await engine.shutDown()
    }

    @Test func oldSourcePlaysUntilTheFirstFrameOfTheNewOne() async throws {
        let engine = makeEngine { $0.hasVideo = false }
        let (old, sink, started) = (Source(), SoundCollector(), Happening())
        try await engine.addAudioSink(sink, to: .local)
        try await engine.setAudioSource(old)
        try await engine.startPreview()
        try old.deliver(0)
        let next = Source { _ in started.happen() }
        let events = engine.events
        let change = Task { try await engine.setAudioSource(next) }
        await started.wait()
        for index in 1..<5 { #expect(try old.deliver(index) == .accepted) }
        // If the source's start has not returned yet, the gate holds the frame until it has.
        #expect(try next.deliver(5) == .accepted)
        try await change.value
        #expect(try old.deliver(6) == .dropped(.notStarted))
        #expect(try next.deliver(6) == .accepted)
        await sink.wait(for: 7 * 480)
        #expect(try sink.channel(0) == (0..<7).flatMap { block($0) })
        #expect(await engine.statistics.localAudio?.corrections == AudioCorrectionCounts())
        await events.first(named: "sourceSwitched", of: .audio)
        await engine.shutDown()
    }

    /// Hangs in its first frame until `release` is signalled.
    private final class Hanging: AudioSink, Sendable {
        let release = DispatchSemaphore(value: 0)
        let isBack = Happening()
        private let isFirst = Atomic<Bool>(true)
        func render(_ frame: AudioFrame) {
            if isFirst.exchange(false, ordering: .relaxed) {
                release.wait()
            } else {
                isBack.happen()
            }
        }
    }

    @Test func hangingSinkIsWaitedForOnceOffline() async throws {
        let engine = makeEngine {
            $0.hasVideo = false
            $0.isRealTime = false
        }
        let events = engine.events
        let (source, good, hanging) = (Source(), SoundCollector(), Hanging())
        try await engine.setAudioSource(source)
        let id = try await engine.addAudioSink(hanging, to: .local)
        try await engine.addAudioSink(good, to: .local)
        try await engine.startPreview()
        async let isDelivered: Void = blocking {
            for index in 0..<200 { #expect((try? source.deliver(index)) == .accepted) }
        }
        // One frame is inside the hanging sink, 64 wait, and the source blocks with the next one.
        _ = await engine.statistics { $0.audioSinks[id]?.balance.waiting == 66 }
        // The source waits for the hanging sink for ten times the stall limit, because no frame may
        // be lost.
        await engine.time.expire(engine.configuration.stallTimeout * 10)
        await isDelivered
        await good.wait(for: 200 * 480)
        #expect(try good.channel(0) == (0..<200).flatMap { block($0) })
        let statistics = try #require(await engine.statistics.audioSinks[id])
        #expect(statistics.balance.dropped[.queueFull] == 1)
        let stalled = await events.first { event in
            if case .sinkStalled(let id) = event { id } else { nil }
        }
        #expect(stalled == id)
        hanging.release.signal()
        await hanging.isBack.wait()
        engine.time.advance(by: .milliseconds(100))
        await events.first(named: "sinkResumed")
        await engine.shutDown()
    }
}
