import Foundation
import MediaBridge
import TestSupport
import Testing

/// Whether what is seen and what is heard at one moment are so in a file, too. The times in a file are no
/// matter of how busy the machine is.
///
/// `SYNC_SECONDS=60` measures for as long; the worst offset is printed.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SyncTests {
    private var seconds: Int {
        ProcessInfo.processInfo.environment["SYNC_SECONDS"].flatMap { Int($0) } ?? 5
    }

    @Test func flashAndBeepStayTogetherThroughTheEngine() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let (source, file) = (
                try FlashAndBeep(seconds: seconds), try FlashAndBeep.recording(path)
            )
            let engine = MediaEngine()
            let events = engine.events
            try await engine.setVideoSource(source.pictures)
            try await engine.setAudioSource(source.sound)
            try await engine.setLocalVideoRenderer(file)
            try await engine.setLocalAudioSink(file.audio)
            try await engine.startPreview()
            await end(of: events)
            await engine.shutDown()
            try await check(path, "engine")
        }
    }

    @Test func flashAndBeepStayTogetherThroughAChannelAndItsMix() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let (source, file) = (
                try FlashAndBeep(seconds: seconds), try FlashAndBeep.recording(path)
            )
            let network = LoopbackNetwork()
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
            await sender.shutDown()
            await receiver.shutDown()
            try await check(path, "channel and mix")
        }
    }

    private func end(of events: EngineEvents) async {
        var ends = 0
        for await event in events {
            switch event {
            case .sourceEnded, .audioSourceEnded: ends += 1
            case .sourceFailed(let error), .audioSourceFailed(let error),
                .rendererFailed(_, let error), .audioSinkFailed(_, let error):
                Issue.record(error)
                return
            default: break
            }
            if ends == 2 { return }
        }
    }

    private func check(_ path: String, _ name: String) async throws {
        let offsets = try await FlashAndBeep.offsets(in: path)
        let worst = offsets.map(abs).max() ?? .infinity
        print(
            "\(name): \(offsets.count) flashes, worst offset \(worst * 1000) ms"
        )
        #expect(offsets.count >= seconds - 3)
        #expect(worst <= 0.010)
    }
}
