import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// The mixed audio of a channel's users, in virtual time.
@Suite(.hangGuard)
struct PlaybackTests {
    private let network = LoopbackNetwork()
    private let clock = TestBackend()

    private func join(_ user: UserID, pushes: Bool = true) async throws -> MediaEngine {
        let engine = makeEngine(clock, transport: network) { $0.hasVideo = false }
        if pushes { try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1) }
        try await engine.joinChannel("room", userID: user)
        return engine
    }

    private func milliseconds(_ value: Int) -> MediaTime {
        MediaTime(value: Int64(value), timescale: 1000)
    }

    private func expectBalance(_ playback: EngineStatistics.Playback) {
        let counts = playback.jitterBuffer
        #expect(counts.received == counts.played + counts.dropped + counts.waiting)
    }

    /// Samples of one channel, 48 per millisecond.
    private func pull(_ milliseconds: Int, from engine: MediaEngine) throws -> [Int16] {
        let bytes = try #require(engine.pullPlaybackAudioFrame(length: milliseconds * 96))
        return stride(from: 0, to: bytes.count, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    @Test func bufferedAudioIsPlayedAfterTheUserLeft() async throws {
        let bert = try await join("bert", pushes: false)
        let events = bert.events
        try await bert.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        let sink = SoundCollector()
        try await bert.addAudioSink(sink, to: .remote("anna"))
        let anna = try await join("anna")
        let start = anna.runningTime
        for index in 0..<20 {
            anna.pushExternalAudioFrame(
                [Int16](repeating: 1000, count: 480), timestamp: start + milliseconds(index * 10))
        }
        await sink.wait(for: 9600)
        var heard = try pull(50, from: bert)
        try await anna.leaveChannel()
        await events.first(named: "userOffline")
        let waiting = await bert.statistics.playback
        expectBalance(waiting)
        #expect(waiting.jitterBuffer.waiting == 9600 - 2400)
        heard += try pull(300, from: bert)
        #expect(heard.count { $0 == 1000 } == 9600)
        let playback = await bert.statistics.playback
        #expect(playback.jitterBuffer.received == 9600)
        #expect(playback.jitterBuffer.played == 9600)
        #expect(playback.jitterBuffer.waiting == 0)
        await anna.shutDown()
        await bert.shutDown()
        // The counts outlive the user that they describe.
        #expect(await bert.statistics.playback.jitterBuffer.received == 9600)
    }

    /// The ways to mute a user for receivers.
    enum Mute: CaseIterable {
        case one, all
    }

    @Test(arguments: Mute.allCases) func aMutedUserIsSilent(mute: Mute) async throws {
        let bert = try await join("bert", pushes: false)
        try await bert.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        let sink = SoundCollector()
        try await bert.addAudioSink(sink, to: .remote("anna"))
        let anna = try await join("anna")
        #expect(await anna.isExternalAudioSourceEnabled)
        func say(_ value: Int16) -> FrameDisposition {
            let start = anna.runningTime
            clock.time.advance(by: milliseconds(100))
            return anna.pushExternalAudioFrame(
                [Int16](repeating: value, count: 4800), timestamp: start)
        }
        #expect(say(1000) == .accepted)
        await sink.wait(for: 4800)
        func setMute(_ isMuted: Bool) {
            switch mute {
            case .one: bert.muteRemoteAudio(isMuted, forUserID: "anna")
            case .all: bert.muteAllRemoteAudio(isMuted)
            }
        }
        setMute(true)
        #expect(say(2000) == .accepted)
        // Frames are received one after another: once this frame is counted, the previous one has
        // been processed.
        #expect(say(0) == .accepted)
        await wait(for: 3, of: "anna", at: bert)
        setMute(false)
        #expect(say(3000) == .accepted)
        await wait(for: 4, of: "anna", at: bert)
        await sink.wait(for: 9600)
        let heard = try pull(600, from: bert)
        #expect(heard.contains(1000) && heard.contains(3000) && !heard.contains(2000))
        let samples = try sink.channel(0)
        #expect(samples.contains(1000) && samples.contains(3000) && !samples.contains(2000))
        try await bert.disableExternalAudioSink()
        #expect(bert.pullPlaybackAudioFrame(length: 960) == nil)
        try await anna.disableExternalAudioSource()
        #expect(await !anna.isExternalAudioSourceEnabled)
        await anna.shutDown()
        await bert.shutDown()
    }

    /// Suspends until `frames` frames of a user have arrived.
    private func wait(for frames: Int, of user: UserID, at engine: MediaEngine) async {
        _ = await engine.statistics {
            $0.remoteAudio.values.map(\.received).reduce(0, +) >= frames
        }
    }

    @Test(arguments: [100, 600, 2000])
    func packetsOfAnySizeAreHeardCompletely(pieces: Int) async throws {
        let bert = try await join("bert", pushes: false)
        try await bert.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        let sink = SoundCollector()
        try await bert.addAudioSink(sink, to: .remote("anna"))
        let anna = try await join("anna")
        var heard = 0
        let count = 6000 / pieces
        for index in 0..<count {
            let start = anna.runningTime
            clock.time.advance(by: milliseconds(pieces))
            let piece = [Int16](repeating: 1000, count: pieces * 48)
            #expect(anna.pushExternalAudioFrame(piece, timestamp: start) == .accepted)
            await sink.wait(for: (index + 1) * pieces * 48)
            heard += try pull(pieces, from: bert).count { $0 == 1000 }
        }
        heard += try pull(pieces + 100, from: bert).count { $0 == 1000 }
        let playback = await bert.statistics.playback
        expectBalance(playback)
        #expect(playback.jitterBuffer.dropped == 0)
        #expect(heard == count * pieces * 48)
        await anna.shutDown()
        await bert.shutDown()
    }

    @Test(arguments: [0, 50, 55, 60, 200])
    func lateAudioIsPlayedCompletelyToASink(lateness: Int) async throws {
        let bert = try await join("bert", pushes: false)
        let (heard, mix) = (SoundCollector(), SoundCollector())
        try await bert.addAudioSink(heard, to: .remote("anna"))
        try await bert.addAudioSink(mix, to: .playback)
        let anna = try await join("anna")
        clock.time.advance(by: milliseconds(500))
        for index in 0..<100 {
            let time = anna.runningTime - milliseconds(lateness)
            clock.time.advance(by: milliseconds(10))
            // A constant value, so that the played samples can be counted.
            anna.pushExternalAudioFrame([Int16](repeating: 1000, count: 480), timestamp: time)
            await heard.wait(for: (index + 1) * 480)
            // Waits for the sink, which keeps pace in real time.
            await mix.wait(for: index * 480)
        }
        while try mix.channel(0).count(where: { $0 != 0 }) < 48000 - 480 {
            let before = try mix.channel(0).count
            clock.time.advance(by: milliseconds(50))
            await mix.wait(for: before + 5 * 480)
        }
        let playback = await bert.statistics.playback
        expectBalance(playback)
        #expect(playback.jitterBuffer.dropped == 0)
        #expect(mix.isUnbroken)
        await anna.shutDown()
        await bert.shutDown()
    }

    @Test func loudMixIsAttenuatedNotClipped() async throws {
        let carl = try await join("carl", pushes: false)
        try await carl.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        let users: [UserID] = ["anna", "bert"]
        var sinks: [SoundCollector] = []
        var engines: [MediaEngine] = []
        for user in users {
            let sink = SoundCollector()
            try await carl.addAudioSink(sink, to: .remote(user))
            engines.append(try await join(user))
            sinks.append(sink)
        }
        // A ramp up and down; clipping would flatten it.
        let ramp = (0..<480).map { Int16(30000 * (240 - abs($0 - 240)) / 240) }
        for engine in engines {
            for index in 0..<20 {
                engine.pushExternalAudioFrame(
                    ramp, timestamp: engine.runningTime + milliseconds(index * 10))
            }
        }
        for sink in sinks { await sink.wait(for: 9600) }
        let samples = try pull(250, from: carl)
        let peak = try #require(samples.max())
        #expect(peak >= 32000)
        #expect(samples.count { $0 >= peak - 8 } < 20 * 8)
        for engine in engines + [carl] { await engine.shutDown() }
    }
}
