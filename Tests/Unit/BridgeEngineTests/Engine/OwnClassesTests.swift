import MediaBridgeAgora
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

/// Requirements that the engine does not impose on a program's classes, and access to them.
@Suite(.hangGuard, .balanced)
struct OwnClassesTests {
    /// Mutable state without a lock, so not Sendable. `process` is declared without `consuming`.
    private final class Counting: VideoProcessor {
        private var count = 0
        func process(_ frame: VideoFrame) throws -> VideoFrame? {
            count += 1
            var frame = frame
            frame.metadata["number"] = "\(count)"
            return frame
        }
    }
    private final class CountingSound: AudioProcessor {
        private var count = 0
        func process(_ frame: AudioFrame) throws -> AudioFrame? {
            count += 1
            return count == 2 ? nil : frame
        }
    }

    @Test func aProcessorNeedNotBeSendable() async throws {
        let (engine, source, sink) = (makeEngine(), SourceScript(), SinkScript())
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.setVideoProcessors([Counting()], at: .capture)
        engine.setAudioProcessors([CountingSound()])
        try await engine.startPreview()
        for number in 0..<3 {
            try source.deliver(number)
            await sink.rendered(number + 1)
        }
        #expect(sink.frames.map { $0.metadata["number"] } == ["1", "2", "3"])
        await engine.shutDown()
    }

    @Test func addedRendererIsFoundByItsID() async throws {
        let (engine, script, sound) = (makeEngine(), SinkScript(), SoundCollector())
        let id = try await engine.addVideoSink(ScriptedSink(script), to: .local())
        let reference = try #require(await engine.videoSinkHost(id))
        #expect(reference.id == id)
        #expect(await reference.perform { $0 is ScriptedSink })
        let soundID = try await engine.addAudioSink(sound, to: .local)
        let ear = try #require(await engine.audioSink(soundID))
        #expect(ear.identity == ObjectIdentifier(sound))
        #expect(await ear.perform { $0 is SoundCollector })
        try await engine.removeVideoSink(id)
        try await engine.removeAudioSink(soundID)
        #expect(await engine.videoSinkHost(id) == nil)
        #expect(await engine.audioSink(soundID) == nil)
        await engine.shutDown()
    }
}
