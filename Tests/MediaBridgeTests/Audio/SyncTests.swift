import Foundation
import MediaBridge
import TestSupport
import Testing

/// Whether what is seen and what is heard at one moment are so in a file, too.
///
/// A live capture loses frames on a busy machine, and a mix plays late what came late: what becomes of
/// those is measured, for as many seconds as `SYNC_SECONDS` says, and not tested.
@Suite(.serialized, .deadline(minutes: 5))
struct SyncTests {
    private static let seconds = ProcessInfo.processInfo.environment["SYNC_SECONDS"]
        .flatMap { Int($0) }

    @Test func flashAndBeepStayTogetherThroughTheEngine() async throws {
        var configuration = MediaEngine.Configuration()
        configuration.pace = .asFastAsPossible
        let offsets = try await throughTheEngine(
            try FlashAndBeep(seconds: 10, isLive: false), configuration)
        #expect(offsets.count == 8)
        #expect(offsets.allSatisfy { abs($0) <= 0.001 })
    }

    @Test(.enabled(if: seconds != nil))
    func howFarFlashAndBeepOfALiveCaptureAreApart() async throws {
        let seconds = Self.seconds ?? 5
        let offsets = try await throughTheEngine(
            try FlashAndBeep(seconds: seconds, isLive: true), MediaEngine.Configuration())
        tell(offsets, "engine")
    }

    private func throughTheEngine(
        _ source: FlashAndBeep, _ configuration: MediaEngine.Configuration
    ) async throws -> [Double] {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let file = try FlashAndBeep.recording(path)
            let engine = MediaEngine(configuration: configuration)
            let events = engine.events
            try await engine.setVideoSource(source.pictures)
            try await engine.setAudioSource(source.sound)
            try await engine.setLocalVideoRenderer(file)
            try await engine.setLocalAudioSink(file.audio)
            try await engine.startPreview()
            await end(of: events)
            await engine.shutDown()
            await expectBalanced(engine)
            return try await FlashAndBeep.offsets(in: path)
        }
    }

    /// The network does nothing, or loses a twentieth of all packets and delivers the others 20 to 100 ms
    /// late; pictures as they are, or encoded.
    @Test(.enabled(if: seconds != nil), arguments: [false, true], [true, false])
    func howFarTheyAreApartBehindAChannelAndItsMix(
        isLossy: Bool, carriesFrames: Bool
    ) async throws {
        let seconds = Self.seconds ?? 5
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let (source, file) = (
                try FlashAndBeep(seconds: seconds, isLive: true),
                try FlashAndBeep.recording(path)
            )
            let network = LoopbackNetwork(carriesFrames: carriesFrames)
            if isLossy {
                var impairment = LoopbackImpairment()
                impairment.loss = 0.05
                impairment.delay = .milliseconds(20)
                impairment.jitter = .milliseconds(80)
                network.impair(impairment)
            }
            let (sender, receiver) = (
                MediaEngine(transport: network), MediaEngine(transport: network)
            )
            try await receiver.setRemoteVideoRenderer(file, forUserID: "sender")
            try await receiver.setPlaybackAudioSink(file.audio)
            try await receiver.joinChannel("room", userID: "receiver", role: .audience)
            let events = sender.events
            try await sender.setVideoSource(source.pictures)
            try await sender.setAudioSource(source.sound)
            try await sender.joinChannel("room", userID: "sender")
            await end(of: events)
            let statistics = await receiver.statistics
            await sender.shutDown()
            await receiver.shutDown()
            tell(
                try await FlashAndBeep.offsets(in: path),
                "channel and mix, lossy \(isLossy), frames \(carriesFrames)")
            print(
                "  pictures", statistics.remote["sender"]?[.main]?.playoutDelay ?? .zero,
                "later; jitter of pictures", statistics.channel?.jitter["sender"] ?? .zero,
                "and of sound", statistics.channel?.audioJitter["sender"] ?? .zero)
        }
    }

    private func end(of events: EngineEvents) async {
        var ends = 0
        for await event in events {
            switch event {
            case .sourceEnded, .audioSourceEnded: ends += 1
            case .sourceFailed(_, let error), .audioSourceFailed(let error),
                .rendererFailed(_, let error), .audioSinkFailed(_, let error):
                Issue.record(error)
                return
            default: break
            }
            if ends == 2 { return }
        }
    }

    private func tell(_ offsets: [Double], _ name: String) {
        let worst = offsets.map(abs).max() ?? .infinity
        print("\(name): \(offsets.count) flashes, worst offset \(worst * 1000) ms")
        print("  in ms:", offsets.map { Int(($0 * 1000).rounded()) })
    }
}
