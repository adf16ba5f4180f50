import MediaBridge
import TestSupport

/// A capture in virtual time: a thirtieth of a second passes on `clock` after each frame or access unit.
final class ClockedSource: VideoSource, Sendable {
    private let source: PipelineVideoSource
    private let shutter: Shutter

    private struct Shutter {
        let clock: VirtualTimeline
        /// The timing of a live capture; `nil` if the capture is not live.
        let live: LiveTiming?
        /// Suspends until the last frame has been handled.
        let settle: @Sendable () async -> Void

        func close() {
            blockingWait { await settle() }
            clock.advance(by: MediaTime(value: 1, timescale: 30))
        }
    }

    init(
        _ text: String, _ clock: VirtualTimeline, isLive: Bool = false,
        settle: @escaping @Sendable () async -> Void = {}
    ) throws {
        // An encoder upstream is then never many frames ahead of a request for a keyframe.
        var configuration = PipelineVideoSource.Configuration()
        configuration.depth = 1
        source = try PipelineVideoSource(text, configuration: configuration)
        let live = LiveTiming(clockOrigin: MediaTime(clock.now), latency: .zero)
        shutter = Shutter(clock: clock, live: isLive ? live : nil, settle: settle)
    }

    var consumer: (any VideoFrameConsumer)? {
        get { (source.consumer as? Consumer)?.consumer }
        set { source.consumer = newValue.map { Consumer(consumer: $0, shutter: shutter) } }
    }
    func bufferType() -> VideoBufferType { source.bufferType() }
    func shouldInitialize() throws -> Bool { try source.shouldInitialize() }
    func shouldStart() throws { try source.shouldStart() }
    func shouldStop() throws { try source.shouldStop() }
    func shouldDispose() throws { try source.shouldDispose() }
    func requestKeyFrame() -> Bool { source.requestKeyFrame() }

    private final class Consumer: VideoFrameConsumer {
        let consumer: any VideoFrameConsumer
        private let shutter: Shutter

        init(consumer: any VideoFrameConsumer, shutter: Shutter) {
            (self.consumer, self.shutter) = (consumer, shutter)
        }
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            var frame = frame
            frame.liveTiming = shutter.live
            let disposition = consumer.consume(frame)
            shutter.close()
            return disposition
        }
        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
            var unit = unit
            unit.liveTiming = shutter.live
            let disposition = consumer.consume(unit)
            shutter.close()
            return disposition
        }
        func sourceDidEnd() { consumer.sourceDidEnd() }
        func sourceDidFail(_ error: any Error) { consumer.sourceDidFail(error) }
    }
}

/// GStreamer with the test's clock.
struct ClockedBackend: MediaBackend {
    let clock: VirtualTimeline
    private let gstreamer = GStreamerBackend()

    init(_ clock: VirtualTimeline) { self.clock = clock }

    func clockTime() -> MediaTime { MediaTime(clock.now) }
    func makeDefaultSource() throws -> sending any VideoSource {
        try gstreamer.makeDefaultSource()
    }
    func makeConverter() -> any VideoConverter { gstreamer.makeConverter() }
    func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder { try gstreamer.makeDecoder(codec, to: consumer) }
    var encodableCodecs: [VideoCodec] { gstreamer.encodableCodecs }
    func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder { try gstreamer.makeEncoder(settings, to: consumer) }
}
