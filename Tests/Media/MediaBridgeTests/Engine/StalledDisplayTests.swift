import Foundation
import MediaBridge
import MediaBridgeTesting
import Synchronization
import TestSupport
import Testing

/// A stalled receiver does not affect the others.
@Suite(.hangGuard)
struct StalledDisplayTests {
    /// A display that hangs in its first frame until it is released.
    private final class HangingDisplay: VideoSink {
        private let isReleased: DispatchSemaphore
        init(until isReleased: DispatchSemaphore) { self.isReleased = isReleased }
        func render(_ frame: VideoFrame) {
            isReleased.wait()
            isReleased.signal()
        }
    }
    private final class BrokenDisplay: VideoSink {
        struct NoDisplay: Error {}
        func render(_ frame: VideoFrame) throws { throw NoDisplay() }
    }

    @Test func aRecordingBesideStalledAndBrokenDisplaysIsComplete() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            (clip.frames, clip.width, clip.height, clip.hasAudio) = (15, 64, 48, false)
            let film = try await clip.make(at: directory.file("clip.mkv"))
            let path = directory.file("record.mkv")
            let engine = MediaEngine()
            try await engine.setVideoSource(
                PipelineVideoSource("filesrc location=\(film) ! matroskademux ! decodebin"))
            let release = DispatchSemaphore(value: 0)
            try await engine.addVideoSink(HangingDisplay(until: release), to: .local())
            try await engine.addVideoSink(BrokenDisplay(), to: .local())
            // A pipeline that hangs for longer than the film lasts.
            try await engine.addVideoSink(
                PipelineVideoSink("identity sleep-time=800000 ! fakesink"), to: .local())
            var configuration = PipelineVideoSink.Configuration()
            configuration.whenFull = .wait
            var options = SinkOptions()
            options.depth = 60
            let recorder = try await engine.addVideoSink(
                PipelineVideoSink(
                    "x264enc tune=zerolatency speed-preset=ultrafast ! matroskamux "
                        + "! filesink location=\(path)", configuration: configuration),
                to: .local(), options: options)
            let events = engine.events
            try await engine.startPreview()
            for await event in events { if case .sourceEnded = event { break } }
            try await engine.removeVideoSink(recorder)
            #expect(try await MediaProbe(of: path).video?.frames == clip.frames)
            // The display is back: only its own frames were dropped, and they are counted.
            release.signal()
            await engine.shutDown()
            // The hanging pipeline still has frames in its queue.
            await expectBalanced(engine, isOver: false)
        }
    }

    @Test func previewHasAFrameWithoutASource() async throws {
        let engine = MediaEngine()
        try await engine.startPreview()
        let frame = try await engine.takeSnapshot(within: .seconds(60))
        #expect(frame.width > 0 && frame.height > 0)
        await engine.shutDown()
        await expectBalanced(engine)
    }

    @Test func engineSnapshotBecomesAPicture() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("shot.png")
            let engine = MediaEngine()
            try await engine.setVideoSource(
                PipelineVideoSource(
                    "videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=30/1"))
            try await engine.startPreview()
            try await engine.takeSnapshot().writePicture(to: path)
            await engine.shutDown()
            await expectBalanced(engine)
            let picture = try await MediaProbe(of: path).video
            #expect(picture?.codec == "png")
            #expect(picture?.width == 64)
        }
    }

    @Test func remoteSnapshotIsWrittenToAFileOfAnyName() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("other 100%.jpg")
            let network = LoopbackNetwork()
            let (engine, other) = (
                MediaEngine(transport: network), MediaEngine(transport: network)
            )
            try await other.setVideoSource(
                PipelineVideoSource(
                    "videotestsrc is-live=true pattern=blue ! "
                        + "video/x-raw,width=160,height=120,framerate=30/1"))
            try await other.joinChannel("snapshot", userID: "otto")
            try await engine.joinChannel("snapshot", userID: "anna", role: .audience)
            let shot = try await engine.takeSnapshot(
                of: .remote("otto"), within: .seconds(60))
            try await shot.writePicture(to: path)
            await engine.shutDown()
            await other.shutDown()
            let picture = try await MediaProbe(of: path).video
            #expect(picture?.codec == "mjpeg")
            #expect(picture?.width == 160 && picture?.height == 120)
            #expect(try await MediaProbe.colour(of: path).blue > 200)
        }
    }
}
