import MediaBridge
import MediaBridgeAgora
import Synchronization
import TestSupport
import Testing

/// The engine's use of GStreamer: its decoders, its converters, and the ends of its sources.
@Suite(.hangGuard) struct EngineBackendTests {
    /// Passes its rendered frames on.
    private final class Screen: VideoSink {
        let frames: AsyncStream<VideoFrame>
        private let shown: AsyncStream<VideoFrame>.Continuation
        private let format: VideoPixelFormat
        init(_ format: VideoPixelFormat = .any) {
            (frames, shown) = AsyncStream.makeStream(of: VideoFrame.self)
            self.format = format
        }
        func pixelFormat() -> VideoPixelFormat { format }
        func render(_ frame: VideoFrame) { shown.yield(frame) }
    }

    @Test(arguments: EncodedUnits.codecs)
    func encodedPushesAreShown(codec: VideoCodec) async throws {
        let units = try await EncodedUnits.make(codec, 12)
        let engine = MediaEngine()
        let screen = Screen()
        var shown = screen.frames.makeAsyncIterator()
        try await engine.addVideoSink(screen, to: .local())
        try await engine.setExternalVideoSource(.encoded)
        try await engine.startPreview()
        var last = MediaTime(nanoseconds: -1)
        for unit in units {
            var unit = unit
            unit.runningTime = nil
            let disposition = engine.pushExternalEncodedVideoFrame(unit)
            #expect(disposition == .accepted)
            let frame = try #require(await shown.next())
            #expect(frame.width == 64 && frame.height == 48)
            let time = try #require(frame.runningTime)
            #expect(time > last)
            last = time
        }
        await engine.shutDown()
        await expectBalanced(engine)
    }

    @Test func uprightRendererReceivesRotatedVideoUpright() async throws {
        let engine = MediaEngine()
        let screen = Screen(.rgba)
        var shown = screen.frames.makeAsyncIterator()
        var options = SinkOptions()
        options.isUpright = true
        options.whenFull = .wait
        try await engine.addVideoSink(screen, to: .local(), options: options)
        try await engine.setVideoSource(
            PipelineVideoSource(
                "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=32,height=16,framerate=50/1"
                    + " ! taginject tags=image-orientation=rotate-90"))
        try await engine.startPreview()
        for _ in 0..<3 {
            let frame = try #require(await shown.next())
            #expect(frame.format.pixelFormat == .rgba && frame.rotation == .upright)
            #expect(frame.width == 16 && frame.height == 32)
        }
        await engine.shutDown()
        await expectBalanced(engine)
    }

    @Test func captureEndAndFailureAreEvents() async throws {
        let tiny = "video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1"
        for (text, fails) in [
            ("num-buffers=3 ! \(tiny)", false), ("! \(tiny) ! identity error-after=3", true),
        ] {
            let engine = MediaEngine()
            let events = engine.events
            try await engine.setVideoSource(PipelineVideoSource("videotestsrc \(text)"))
            try await engine.startPreview()
            var failure: EngineError?
            loop: for await event in events {
                switch event {
                case .sourceEnded:
                    #expect(!fails)
                    break loop
                case .sourceFailed(_, let error):
                    failure = error
                    break loop
                default: break
                }
            }
            #expect((failure != nil) == fails)
            if fails {
                let underlying = failure?.underlying as? PipelineError
                #expect(underlying?.element?.contains("identity") == true)
            }
            await engine.shutDown()
            await expectBalanced(engine)
        }
    }
}
