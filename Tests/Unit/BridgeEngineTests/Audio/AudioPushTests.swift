import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine
@testable import MediaBridgeAgora

@Suite(.hangGuard, .balanced)
struct AudioPushTests {
    private func makeSilentMovie() -> MediaEngine { makeEngine { $0.hasVideo = false } }

    private func time(_ block: Int) -> MediaTime { MediaTime(value: Int64(block), timescale: 100) }

    @Test func pushReturnsAResultInEveryState() async throws {
        let engine = makeSilentMovie()
        #expect(engine.pushExternalAudioFrame(block(0), timestamp: nil) == .dropped(.notEnabled))
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        #expect(engine.pushExternalAudioFrame(block(0), timestamp: nil) == .dropped(.notStarted))
        try await engine.startPreview()
        #expect(engine.pushExternalAudioFrame(block(0), timestamp: nil) == .accepted)
        #expect(engine.pushExternalAudioFrame([], timestamp: nil) == .dropped(.badSize))
        let stereo = try AudioFrame(
            copying: [Int16](repeating: 0, count: 960), sampleRate: 48000, channels: 2,
            runningTime: nil)
        #expect(engine.pushExternalAudioFrame(stereo) == .dropped(.badFormat))
        try await engine.stopPreview()
        #expect(engine.pushExternalAudioFrame(block(0), timestamp: nil) == .dropped(.notStarted))
        try await engine.disableExternalAudioSource()
        #expect(engine.pushExternalAudioFrame(block(0), timestamp: nil) == .dropped(.notEnabled))
    }

    @Test(arguments: [(7999, 1), (48001, 2), (16000, 0), (16000, 3), (-1, -1)])
    func invalidAudioFormatIsRefused(rate: Int, channels: Int) async throws {
        let engine = makeSilentMovie()
        let source = await #expect(throws: EngineError.self) {
            try await engine.enableExternalAudioSource(sampleRate: rate, channels: channels)
        }
        #expect(source?.code == .invalidArgument)
        let sink = await #expect(throws: EngineError.self) {
            try await engine.enableExternalAudioSink(sampleRate: rate, channels: channels)
        }
        #expect(sink?.code == .invalidArgument)
    }

    @Test func everySampleArrivesOnceAndInOrder() async throws {
        let engine = makeSilentMovie()
        let sink = SoundCollector()
        try await engine.addAudioSink(sink, to: .local)
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await engine.startPreview()
        for index in 0..<50 {
            #expect(
                engine.pushExternalAudioFrame(block(index), timestamp: time(index)) == .accepted)
        }
        await sink.wait(for: 24000)
        #expect(try sink.channel(0) == (0..<50).flatMap { block($0) })
        #expect(sink.isUnbroken)
        let statistics = try #require(await engine.statistics.localAudio)
        #expect(statistics.corrections == AudioCorrectionCounts())
        #expect(statistics.deliveredSamples == 24000)
        #expect(statistics.sampleCount == 24000)
        #expect(statistics.level ?? 0 > 0.7)
        await engine.shutDown()
    }

    @Test func gapsAreFilledOverlapsAreCutAndBothAreCounted() async throws {
        let engine = makeSilentMovie()
        let events = engine.events
        let sink = SoundCollector()
        try await engine.addAudioSink(sink, to: .local)
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await engine.startPreview()
        for index in [0, 1, 4, 5] {
            #expect(
                engine.pushExternalAudioFrame(block(index), timestamp: time(index)) == .accepted)
        }
        // A whole repeated block, then a double block whose first half is repeated.
        #expect(
            engine.pushExternalAudioFrame(block(5), timestamp: time(5)) == .dropped(.backwards))
        #expect(
            engine.pushExternalAudioFrame(block(5, samples: 960), timestamp: time(5)) == .accepted)
        await sink.wait(for: 480 * 7)
        let silence = [Int16](repeating: 0, count: 960)
        let expected = block(0) + block(1) + silence + block(4) + block(5) + block(6)
        #expect(try sink.channel(0) == expected)
        #expect(sink.isUnbroken)
        let corrections = try #require(await engine.statistics.localAudio).corrections
        #expect(corrections.gaps == 1)
        #expect(corrections.insertedSamples == 960)
        #expect(corrections.overlaps == 2)
        #expect(corrections.droppedSamples == 960)
        let reported = await events.first { event in
            if case .audioCorrected(let counts) = event { counts } else { nil }
        }
        #expect(reported?.gaps == 1 && reported?.insertedSamples == 960)
        await engine.shutDown()
    }

    @Test func processorsChangeTheAudioOfAllListeners() async throws {
        struct Halving: AudioProcessor {
            func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
                var frame = frame
                try frame.withMutableSamples(as: Int16.self) { samples in
                    for index in samples.indices { samples[index] /= 2 }
                }
                return frame
            }
        }
        let engine = makeSilentMovie()
        let sink = SoundCollector()
        engine.setAudioProcessors([Halving()])
        try await engine.addAudioSink(sink, to: .local)
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await engine.startPreview()
        engine.pushExternalAudioFrame(block(0), timestamp: time(0))
        await sink.wait(for: 480)
        #expect(try sink.channel(0) == block(0).map { $0 / 2 })
        await engine.shutDown()
    }

    /// A consumer that asks its source for its consumer while it is released.
    private final class LastLook: AudioFrameConsumer {
        private let source: PushTable<any AudioSource & Sendable>
        private let isAlone: Observed<Bool?>

        init(_ source: PushTable<any AudioSource & Sendable>, _ isAlone: Observed<Bool?>) {
            (self.source, self.isAlone) = (source, isAlone)
        }

        deinit {
            let isAlone = source[.main]?.consumer == nil
            self.isAlone.change { $0 = isAlone }
        }

        func consume(_ frame: consuming AudioFrame) -> FrameDisposition { .accepted }
    }

    @Test(arguments: [true, false])
    func aConsumerMayUseItsSourceWhileItIsReleased(byTheSource: Bool) {
        let format = AudioFormat(sampleRate: 48000, channels: 1)
        let (holder, isAlone) = (PushTable<any AudioSource & Sendable>(), Observed<Bool?>(nil))
        holder[.main] = PushAudioSource(format)
        holder[.main]?.consumer = LastLook(holder, isAlone)
        if byTheSource { holder[.main]?.consumer = nil } else { holder[.main] = nil }
        #expect(isAlone.value == true)
    }
}
