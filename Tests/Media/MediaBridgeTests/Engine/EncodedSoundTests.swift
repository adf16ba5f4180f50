import BridgeEngine
import Foundation
import MediaBridgeAgora
import MediaBridgeTesting
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Audio into a channel that carries no samples: encoded on the way, and decoded only for
/// listeners.
@Suite(.hangGuard) struct EncodedSoundTests {
    private final class Ear: AudioSink, Sendable {
        let frames = Observed<[AudioFrame]>([])
        func render(_ frame: AudioFrame) throws {
            let frame = copy frame
            frames.change { $0.append(frame) }
        }

        var samples: Int { frames.value.reduce(0) { $0 + $1.sampleCount } }
    }

    private let network = LossyTransport(LoopbackNetwork(carriesRawFrames: false))

    /// A sender that pushes audio in steps of 10 ms.
    private func sender(
        _ configuration: AudioEncoderConfiguration = .init()
    ) async throws -> MediaEngine {
        var offline = MediaEngine.Configuration()
        offline.isRealTime = false
        let engine = MediaEngine(configuration: offline, transport: network)
        try await engine.setAudioEncoderConfiguration(configuration)
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await engine.joinChannel("room", userID: "anna")
        return engine
    }

    private func push(_ range: Range<Int>, to engine: MediaEngine) throws {
        for block in range {
            let samples = (0..<480).map { index in
                Int16(10000 * sin(2 * .pi * 440 * Double(block * 480 + index) / 48000))
            }
            let frame = try AudioFrame(
                copying: samples, sampleRate: 48000, channels: 1,
                runningTime: MediaTime(value: Int64(block), timescale: 100))
            engine.pushExternalAudioFrame(frame)
        }
    }

    private func listener(_ ear: Ear?) async throws -> MediaEngine {
        var offline = MediaEngine.Configuration()
        offline.isRealTime = false
        let engine = MediaEngine(configuration: offline, transport: network)
        if let ear { try await engine.addAudioSink(ear, to: .remote("anna")) }
        try await engine.joinChannel("room", userID: "ben", role: .audience)
        return engine
    }

    /// Returns when everything that was sent has arrived.
    private func settled(_ engine: MediaEngine) async -> ChannelStatistics {
        await engine.statistics { $0.channel?.outgoingAudio.waiting == 0 }.channel
            ?? ChannelStatistics()
    }

    /// Shuts both engines down when all audio has been received.
    ///
    /// - Returns: The channel's counts before the sender left, and the receiver's counts; `nil` if
    ///   it received nothing.
    private func hangUp(
        _ sender: MediaEngine, _ receiver: MediaEngine, _ events: EventSequence<EngineEvent>
    ) async -> (channel: ChannelStatistics, remote: EngineStatistics.RemoteAudio?) {
        let channel = await settled(sender)
        await sender.shutDown()
        _ = await events.first { event -> Bool? in
            if case .unpublished(.audio, by: "anna") = event { true } else { nil }
        }
        await receiver.shutDown()
        let statistics = await receiver.statistics
        let remote = statistics.remoteAudio["anna"] ?? statistics.removed.remoteAudio.latest["anna"]
        return (channel, remote)
    }

    @Test(arguments: [AudioCodec?.none, .opus, .mulaw])
    func channelEncodesAndDecodesAudio(codec: AudioCodec?) async throws {
        let ear = Ear()
        let receiver = try await listener(ear)
        let events = receiver.events
        var configuration = AudioEncoderConfiguration()
        configuration.codec = codec
        let sender = try await sender(configuration)
        // No more than a channel queues for one receiver.
        try push(0..<90, to: sender)
        let (channel, heard) = await hangUp(sender, receiver, events)
        let remote = try #require(heard)
        // G.711 has one unit per frame, and Opus one per 20 ms. The rest in the encoder arrives at
        // the end.
        let units = codec == .mulaw ? 90 : 45
        #expect(channel.outgoingAudio.offered == units)
        #expect((units...units + 1).contains(remote.received))
        #expect(
            remote.decoding == FrameBalance(offered: remote.received, delivered: remote.received))
        #expect(remote.concealedSamples == 0)
        let rate = codec == .mulaw ? 8000 : 48000
        #expect(remote.format?.sampleRate == rate)
        #expect(await sender.statistics.outgoingAudio.delivered == 90)
        #expect(ear.samples == remote.sampleCount)
        #expect(abs(ear.samples - rate * 9 / 10) <= rate / 1000)
        let times = ear.frames.value.compactMap(\.runningTime)
        #expect(times == times.sorted() && times.count == ear.frames.value.count)
    }

    /// A microphone that encodes, or a film: the engine accepts the output of the string.
    @Test(arguments: ["opusenc", "avenc_aac ! aacparse", "flacenc"])
    func encodedAudioSourceIsDecodedForTheEngine(encoder: String) async throws {
        var offline = MediaEngine.Configuration()
        offline.isRealTime = false
        offline.hasVideo = false
        let engine = MediaEngine(configuration: offline, transport: network)
        let ear = Ear()
        try await engine.addAudioSink(ear, to: .local)
        try await engine.setAudioSource(
            PipelineAudioSource(
                "audiotestsrc num-buffers=100 samplesperbuffer=480 ! audio/x-raw,rate=48000,channels=1 ! "
                    + encoder))
        let events = engine.events
        try await engine.startPreview()
        _ = await events.first { event -> Bool? in
            if case .sourceEnded(.audio) = event { true } else { nil }
        }
        await engine.shutDown()
        #expect(abs(ear.samples - 48000) <= 4800)
        let times = ear.frames.value.compactMap(\.runningTime)
        #expect(times == times.sorted() && !times.isEmpty)
    }

    @Test func audioWithoutListenersIsNotDecoded() async throws {
        let receiver = try await listener(nil)
        let events = receiver.events
        let sender = try await sender()
        try push(0..<20, to: sender)
        let first = await events.first { event -> AudioFormat? in
            if case .firstAudio(.remote("anna"), let format) = event { format } else { nil }
        }
        #expect(first == AudioFormat(.s16le, sampleRate: 48000, channels: 1))
        let remote = try #require(await receiver.statistics.remoteAudio["anna"])
        #expect(remote.received > 0 && remote.decoding.offered == 0 && remote.sampleCount == 0)
        // A listener arrives.
        let ear = Ear()
        try await receiver.addAudioSink(ear, to: .remote("anna"))
        try push(20..<40, to: sender)
        await ear.frames.wait { !$0.isEmpty }
        await sender.shutDown()
        await receiver.shutDown()
    }

    /// The end of the old codec's audio arrives before the beginning of the new one's.
    @Test func theCodecChangesWithoutANewPublication() async throws {
        let ear = Ear()
        let receiver = try await listener(ear)
        let (events, all) = (receiver.events, receiver.events)
        let sender = try await sender()
        try push(0..<21, to: sender)
        var configuration = AudioEncoderConfiguration()
        configuration.codec = .alaw
        try await sender.setAudioEncoderConfiguration(configuration)
        try push(21..<40, to: sender)
        _ = await hangUp(sender, receiver, events)
        let rates = ear.frames.value.map(\.format.sampleRate)
        #expect(rates == rates.sorted(by: >) && Set(rates) == [48000, 8000])
        let published = await all.rest().count {
            if case .published(.audio, _) = $0 { true } else { false }
        }
        #expect(published == 1)
        #expect(await sender.statistics.outgoingAudio.delivered == 40)
    }

    @Test func codecThatTheChannelDoesNotCarryIsReportedOnce() async throws {
        var configuration = AudioEncoderConfiguration()
        configuration.codec = .init(rawValue: "audio/x-speex")
        let sender = try await sender(configuration)
        let events = sender.events
        try push(0..<10, to: sender)
        let error = try #require(
            await events.first { event -> EngineError? in
                if case .publicationChanged(.audio, .failed(let error)) = event {
                    error
                } else {
                    nil
                }
            })
        #expect(error.code == .invalidArgument && error.message.contains("speex"))
        #expect(error.advice?.contains("opus") == true)
        #expect(await sender.statistics.outgoingAudio.dropped[.failed] == 10)
        // The next configuration is tried.
        try await sender.setAudioEncoderConfiguration(AudioEncoderConfiguration())
        try push(10..<20, to: sender)
        #expect(await sender.statistics.outgoingAudio.delivered == 10)
        await sender.shutDown()
    }

    @Test func mutedMicrophoneIsReportedToOtherUsers() async throws {
        let receiver = try await listener(nil)
        let events = receiver.events
        let sender = try await sender()
        for isMuted in [true, false] {
            sender.muteLocalAudio(isMuted)
            let heard = await events.first { event -> Bool? in
                if case .muted(let isMuted, .audio, by: "anna") = event { isMuted } else { nil }
            }
            #expect(heard == isMuted)
        }
        sender.muteLocalAudio(true)
        // A participant that joins later is informed too.
        let late = MediaEngine(transport: network)
        let lateEvents = late.events
        try await late.joinChannel("room", userID: "clara", role: .audience)
        let heard = await lateEvents.first { event -> Bool? in
            if case .muted(let isMuted, .audio, by: "anna") = event { isMuted } else { nil }
        }
        #expect(heard == true)
        for engine in [sender, receiver, late] { await engine.shutDown() }
    }

    /// Audio lost in the network is concealed and counted.
    @Test func lostAudioIsConcealed() async throws {
        var impairment = NetworkImpairment()
        impairment.loss = 0.1
        network.impair(impairment)
        let ear = Ear()
        let receiver = try await listener(ear)
        let events = receiver.events
        let sender = try await sender()
        try push(0..<180, to: sender)
        let (channel, heard) = await hangUp(sender, receiver, events)
        let remote = try #require(heard)
        let audio = channel.outgoingAudio
        #expect(audio.offered == 90 && audio.dropped[.lost] > 0)
        // The last unit arrives at the end, and may be lost as well.
        #expect((audio.delivered...audio.delivered + 1).contains(remote.received))
        // Only units lost in the middle are concealed: at the ends, a loss cannot be detected.
        #expect(
            remote.concealedSamples > 0
                && remote.concealedSamples <= (audio.dropped[.lost] + 1) * 960)
        #expect(remote.sampleCount >= remote.received * 960 - 2 * 960 + remote.concealedSamples)
    }

    /// On any network and with any change, the counts add up and times increase.
    @Test func randomNetworksAndChangesKeepBalanceAndOrder() async throws {
        let seed =
            ProcessInfo.processInfo.environment["SOUND_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...UInt64.max)
        print("sound through networks: SOUND_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<6 { try await anything(&random) }
    }

    private func anything(_ random: inout SeededGenerator) async throws {
        let network = LossyTransport(
            LoopbackNetwork(carriesRawFrames: Bool.random(using: &random)))
        let ear = Ear()
        var offline = MediaEngine.Configuration()
        offline.isRealTime = false
        let sender = MediaEngine(configuration: offline, transport: network)
        let receiver = MediaEngine(configuration: offline, transport: network)
        try await receiver.addAudioSink(ear, to: .remote("anna"))
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        let events = receiver.events
        try await sender.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await sender.joinChannel("room", userID: "anna")
        var (next, said, pauses) = (0, "", 0)
        for _ in 0..<12 {
            let count = Int.random(in: 1...8, using: &random)
            try push(next..<next + count, to: sender)
            next += count
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                var configuration = AudioEncoderConfiguration()
                let codecs: [AudioCodec?] = [nil, .opus, .alaw, .mulaw]
                configuration.codec = codecs.randomElement(using: &random) ?? nil
                configuration.bitRate = Int.random(in: 6000...128_000, using: &random)
                try await sender.setAudioEncoderConfiguration(configuration)
                said += " codec \(configuration.codec?.rawValue ?? "none")"
            case 1:
                let isMuted = Bool.random(using: &random)
                sender.muteLocalAudio(isMuted)
                said += " muted \(isMuted)"
            case 2:
                let isMuted = Bool.random(using: &random)
                receiver.muteRemoteAudio(isMuted, forUserID: "anna")
                said += " unheard \(isMuted)"
            case 3:
                var impairment = NetworkImpairment()
                impairment.seed = random.next()
                impairment.loss = Double.random(in: 0...0.3, using: &random)
                impairment.jitter = .milliseconds(Int.random(in: 0...20, using: &random))
                network.impair(Bool.random(using: &random) ? impairment : nil)
                said += " loss \(impairment.loss)"
            // A pause: these blocks are never sent.
            case 4:
                next += Int.random(in: 1...100, using: &random)
                pauses += 1
            default: break
            }
        }
        let (channel, heard) = await hangUp(sender, receiver, events)
        let audio = channel.outgoingAudio
        guard let remote = heard else {
            #expect(audio.delivered == 0, "\(said)")
            return
        }
        #expect(
            audio.offered == audio.delivered + audio.dropped[.lost] + audio.dropped[.evicted]
                + audio.dropped[.closed], "\(said)")
        #expect((audio.delivered...audio.delivered + 1).contains(remote.received), "\(said)")
        #expect(remote.decoding.offered <= remote.received, "\(said)")
        #expect(remote.decoding.delivered == remote.decoding.offered, "\(said)")
        // A short pause looks like a loss.
        #expect(
            remote.concealedSamples <= (audio.dropped[.lost] + 1) * 960 + pauses * 5760, "\(said)")
        let sent = await sender.statistics.outgoingAudio
        #expect(sent.offered == sent.delivered + sent.dropped.total, "\(said)")
        #expect(sent.dropped.total == sent.dropped[.muted], "\(said)")
        let frames = ear.frames.value
        let times = frames.compactMap(\.runningTime)
        #expect(times.count == frames.count && times == times.sorted(), "\(said)")
        #expect(ear.samples <= remote.sampleCount, "\(said)")
    }

    /// A sender of an arbitrary kind, whose bytes are not Opus.
    @Test func damagedUnitsAreCountedAndReportedOnce() async throws {
        final class Silent: ChannelReceiver {}
        let ear = Ear()
        let receiver = try await listener(ear)
        let events = receiver.events
        let member = try await network.join(
            ChannelRequest(channel: "room", userID: "anna"), receiver: Silent())
        let audio = member.publishAudio()
        let speex = AudioCodec(rawValue: "audio/x-speex")
        for index in 0..<10 {
            let unit = EncodedAudioFrame(
                speex, bytes: [1, 2, 3], runningTime: MediaTime(value: Int64(index), timescale: 50),
                sampleRate: 48000, channels: 1)
            #expect(audio.send(unit) == .accepted)
        }
        let error = await events.first { event -> EngineError? in
            if case .playbackFailed(let error) = event { error } else { nil }
        }
        #expect(error?.message.contains("anna") == true)
        audio.end()
        var more = 0
        _ = await events.first { event -> Bool? in
            if case .playbackFailed = event { more += 1 }
            return if case .unpublished(.audio, _) = event { true } else { nil }
        }
        #expect(more == 0)
        let remote = try #require(await receiver.statistics.remoteAudio["anna"])
        #expect(remote.received == 10 && remote.decoding.dropped[.undecodable] == 10)
        await member.leave()
        await receiver.shutDown()
        #expect(ear.frames.value.isEmpty)
    }
}
