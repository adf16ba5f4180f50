import Foundation
import MediaBridge
import TestSupport
import Testing

/// Video and audio of the same moment have the same time in a file, too.
@Suite(.hangGuard) struct SyncTests {
    @Test func flashAndBeepStayTogetherThroughTheEngine() async throws {
        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false
        let offsets = try await throughTheEngine(
            try FlashAndBeep(seconds: 4), configuration)
        #expect(offsets.count == 2)
        #expect(offsets.allSatisfy { abs($0) <= 0.001 })
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
            try await engine.addVideoSink(file, to: .local())
            try await engine.addAudioSink(#require(file.audio), to: .local)
            try await engine.startPreview()
            await end(of: events)
            await engine.shutDown()
            await expectBalanced(engine)
            return try await FlashAndBeep.offsets(in: path)
        }
    }

    private func end(of events: EventSequence<EngineEvent>) async {
        var ends = 0
        for await event in events {
            switch event {
            case .sourceEnded: ends += 1
            case .sourceFailed(_, let error), .sinkFailed(_, let error):
                Issue.record(error)
                return
            default: break
            }
            if ends == 2 { return }
        }
    }
}
