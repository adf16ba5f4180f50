import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

@Suite(.hangGuard, .balanced)
struct AudioCallTests {
    /// Each pushed block advances the time by ten milliseconds.
    private let clock = TestBackend()

    private func join(
        _ network: LoopbackNetwork, _ user: UserID, pushes: Bool = true
    ) async throws -> MediaEngine {
        let engine = makeEngine(clock, transport: network) { $0.hasVideo = false }
        if pushes { try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1) }
        try await engine.joinChannel("room", userID: user)
        return engine
    }

    private func time(_ block: Int) -> MediaTime { MediaTime(value: Int64(block), timescale: 100) }

    @Test func otherUsersHearEverySample() async throws {
        let network = LoopbackNetwork()
        let bert = try await join(network, "bert", pushes: false)
        let events = bert.events
        let sink = SoundCollector()
        try await bert.addAudioSink(sink, to: .remote("anna"))
        let anna = try await join(network, "anna")
        for index in 0..<50 {
            clock.time.advance(by: time(1))
            #expect(anna.pushExternalAudioFrame(block(index), timestamp: time(index)) == .accepted)
        }
        await sink.wait(for: 24000)
        #expect(try sink.channel(0) == (0..<50).flatMap { block($0) })
        #expect(sink.isUnbroken)
        let first = await events.first { event in
            if case .firstAudio(.remote(let user), let format) = event {
                (user, format)
            } else {
                nil
            }
        }
        #expect(first?.0 == "anna")
        #expect(first?.1 == AudioFormat(sampleRate: 48000, channels: 1))
        #expect(await bert.statistics.remoteAudio["anna"]?.sampleCount == 24000)
        #expect(await anna.statistics.outgoingAudio.delivered == 50)
        try await anna.leaveChannel()
        await events.first(named: "unpublished", of: .audio)
        await bert.shutDown()
        await anna.shutDown()
    }

    @Test func pulledAudioMixesAllUsers() async throws {
        let network = LoopbackNetwork()
        let carl = try await join(network, "carl", pushes: false)
        #expect(carl.pullPlaybackAudioFrame(length: 1920) == nil)
        try await carl.enableExternalAudioSink(sampleRate: 48000, channels: 2)
        let silence = try #require(carl.pullPlaybackAudioFrame(length: 1920))
        #expect(silence == [UInt8](repeating: 0, count: 1920))
        #expect(await carl.statistics.playback.silentSamples == 480)
        let sinks = [SoundCollector(), SoundCollector()]
        try await carl.addAudioSink(sinks[0], to: .remote("anna"))
        try await carl.addAudioSink(sinks[1], to: .remote("bert"))
        let anna = try await join(network, "anna")
        let bert = try await join(network, "bert")
        // Both use the engine's running time, so they are in step.
        let starts = (anna.runningTime, bert.runningTime)
        for index in 0..<20 {
            clock.time.advance(by: time(1))
            anna.pushExternalAudioFrame(
                [Int16](repeating: 1000, count: 480), timestamp: starts.0 + time(index))
            bert.pushExternalAudioFrame(
                [Int16](repeating: -3000, count: 480), timestamp: starts.1 + time(index))
        }
        for sink in sinks { await sink.wait(for: 9600) }
        // 25 ms (two and a half steps), and then the rest.
        let bytes = try [4800, 33600].flatMap {
            try #require(carl.pullPlaybackAudioFrame(length: $0))
        }
        let samples = stride(from: 0, to: bytes.count, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
        // 200 ms of two channels. At either end, only one of the two users may be heard.
        #expect(samples.count == 19200)
        #expect(samples.allSatisfy { [0, 1000, -3000, -2000].contains($0) })
        #expect(samples.count { $0 == -2000 } > 15000)
        _ = carl.pullPlaybackAudioFrame(length: 19200)
        // The buffers are now empty.
        #expect(carl.pullPlaybackAudioFrame(length: 1920)?.allSatisfy { $0 == 0 } == true)
        #expect(await carl.statistics.playback.jitterBuffer.underruns == 2)
        for engine in [anna, bert, carl] { await engine.shutDown() }
    }

    @Test func sinkReceivesTheMixInStepsOfTenMilliseconds() async throws {
        let network = LoopbackNetwork()
        let bert = try await join(network, "bert", pushes: false)
        let (sink, heard) = (SoundCollector(), SoundCollector())
        try await bert.addAudioSink(sink, to: .playback)
        try await bert.addAudioSink(heard, to: .remote("anna"))
        let anna = try await join(network, "anna")
        clock.time.advance(by: MediaTime(seconds: 0.5))
        for index in 0..<100 {
            let start = anna.runningTime
            clock.time.advance(by: time(1))
            let sample: Int16 = index < 20 ? 1000 : 0
            anna.pushExternalAudioFrame(
                [Int16](repeating: sample, count: 480), timestamp: start)
            await heard.wait(for: (index + 1) * 480)
            // Waits for the sink, which keeps pace in real time.
            await sink.wait(for: index * 480)
        }
        let samples = try sink.channel(0)
        #expect(samples.count { $0 == 1000 } >= 2400)
        #expect(samples.contains(1000))
        // While the buffer catches up, it plays slightly faster, and the edges of the tone ring.
        #expect(samples.allSatisfy { (-150...1150).contains($0) })
        #expect(sink.frames.allSatisfy { $0.sampleCount == 480 && $0.channels == 2 })
        #expect(sink.frames.allSatisfy { $0.liveTiming != nil })
        for engine in [anna, bert] { await engine.shutDown() }
    }

    @Test func mutedUserIsNotMixed() async throws {
        let network = LoopbackNetwork()
        let bert = try await join(network, "bert", pushes: false)
        let sink = SoundCollector()
        try await bert.addAudioSink(sink, to: .remote("anna"))
        let anna = try await join(network, "anna")
        anna.muteLocalAudio(true)
        #expect(anna.isLocalAudioMuted)
        anna.pushExternalAudioFrame(block(0), timestamp: time(0))
        anna.muteLocalAudio(false)
        anna.pushExternalAudioFrame(block(1), timestamp: time(1))
        await sink.wait(for: 480)
        #expect(try sink.channel(0) == block(1))
        let sent = await anna.statistics.outgoingAudio
        #expect(sent.offered == 2 && sent.delivered == 1 && sent.dropped[.muted] == 1)
        for engine in [anna, bert] { await engine.shutDown() }
    }
}
