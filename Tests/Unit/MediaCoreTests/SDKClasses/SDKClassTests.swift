import MediaCore
import Synchronization
import Testing

/// Classes written for other SDKs, called in the way an engine calls them.
@Suite struct SDKClassTests {
    private final class Received: VideoFrameConsumer {
        let frames = Mutex<[VideoFrame]>([])
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            let frame = frame
            frames.withLock { $0.append(frame) }
            return .accepted
        }
    }

    @Test func aSourceOfBytesDeliversThroughItsConsumer() throws {
        let custom = CustomRawDataSource()
        let source: any VideoSource = custom
        let received = Received()
        #expect(source.bufferType() == .rawData)
        #expect(source.captureType() == .unknown && source.contentHint() == .unspecified)
        #expect(!source.needsPacing())
        source.consumer = received
        let isReady = try source.shouldInitialize()
        #expect(isReady)
        try source.shouldStart()
        for number in 1...3 { #expect(custom.captured(Int64(number)) == [.accepted]) }
        try source.shouldStop()
        try source.shouldDispose()
        #expect(custom.captured(4) == [], "the consumer is gone")
        #expect(
            custom.calls == [
                "bufferType", "shouldInitialize", "shouldStart", "shouldStop", "shouldDispose",
            ])
        let frames = received.frames.withLock { $0 }
        #expect(frames.count == 6)
        #expect(frames[0].format == VideoFormat(.i420, width: 6, height: 4))
        #expect(frames[2].runningTime == MediaTime(value: 2, timescale: 15))
        #expect(frames[1].format == VideoFormat(.bgra, width: 3, height: 3))
        #expect(frames[1].rotation == .rotation180)
        // The source overwrote its bytes with the next picture; delivered frames keep their
        // content.
        for (number, frame) in zip([1, 1, 2, 2, 3, 3] as [UInt8], frames) {
            #expect(try frame.firstByte() == number)
        }
    }

    @Test func aSourceOfPixelBuffersDeliversThemWithoutACopy() throws {
        let source = CustomPixelBufferSource()
        let received = Received()
        source.consumer = received
        #expect(source.captureType() == .camera && source.contentHint() == .motion)
        let picture = try PixelBuffer(.bgra, size: VideoSize(width: 4, height: 4))
        source.captureOutput(picture)
        let frame = try #require(received.frames.withLock { $0.first })
        #expect(frame.storage === picture.storage)
        #expect(frame.rotation == .rotation90)
        #expect(frame.runningTime == MediaTime(value: 1, timescale: 15))
    }

    private static func frame(
        _ format: VideoPixelFormat, rotation: VideoRotation = .upright
    ) throws -> VideoFrame {
        VideoFrame(
            try PackedFormats.padded(format, VideoSize(width: 6, height: 4)), runningTime: .zero,
            rotation: rotation)
    }

    @Test func aRendererOfPixelBuffersGetsThem() throws {
        let custom = CustomPixelBufferRenderer()
        let sink: any VideoSink = custom
        #expect(sink.bufferType() == .pixelBuffer && sink.pixelFormat() == .nv12)
        let frame = try Self.frame(.nv12, rotation: .rotation270)
        try sink.render(frame)
        #expect(custom.pictures.count == 1)
        #expect(custom.pictures[0].0.storage === frame.storage)
        #expect(custom.pictures[0].1 == .rotation270)
    }

    @Test func aRendererOfBytesGetsThemPacked() throws {
        let custom = CustomRawDataRenderer()
        let sink: any VideoSink = custom
        #expect(sink.bufferType() == .rawData && sink.pixelFormat() == .i420)
        let frame = try Self.frame(.i420)
        try sink.render(frame)
        #expect(custom.luma == (try frame.storage.rows())[0].flatMap { $0 })
        #expect(custom.chroma == [UInt8](repeating: 128, count: 12))
        let chroma = try frame.storage.rows()[1]
        #expect(chroma.contains { $0.contains { $0 != 128 } }, "the frame itself has its colours")
    }

    @Test func aRendererOfOneMethodGetsTheFrame() throws {
        let custom = CustomVideoRender()
        let sink: any VideoSink = custom
        #expect(sink.bufferType() == .pixelBuffer && sink.pixelFormat() == .any)
        let isReady = try sink.shouldInitialize()
        #expect(isReady)
        try sink.shouldStart()
        try sink.render(try Self.frame(.i420, rotation: .rotation90))
        try sink.shouldStop()
        try sink.shouldDispose()
        #expect(custom.orientations == [.rotation90])
        #expect(custom.firstRows == [(0..<6).map { PackedFormats.sample(0, 0, $0) }])
    }

    @Test func everyConsumeCallReturnsTheReasonForARefusal() throws {
        let received = Received()
        let bytes = [UInt8](repeating: 0, count: 64)
        try bytes.withUnsafeBytes { bytes in
            let start = try #require(bytes.baseAddress)
            for size in [(0, 4), (4, 0), (-1, 4), (16384, 1), (1, 16384), (.max, .max)] {
                let disposition = received.consumeRawData(
                    start, withTimestamp: .zero, format: .i420,
                    size: VideoSize(width: size.0, height: size.1), rotation: .upright)
                #expect(disposition == .dropped(.badSize))
            }
            let size = VideoSize(width: 4, height: 4)
            let odd = received.consumeRawData(
                start, withTimestamp: .zero, format: "v210", size: size, rotation: .upright)
            #expect(odd == .dropped(.badFormat))
            let narrow = received.consumeRawData(
                bytes.bytes, withTimestamp: .zero, format: .i420, size: size, strideInPixels: 3,
                rotation: .upright)
            #expect(narrow == .dropped(.badStride))
            let short = received.consumeRawData(
                bytes.bytes, withTimestamp: .zero, format: .rgba,
                size: VideoSize(width: 5, height: 4), rotation: .upright)
            #expect(short == .dropped(.badSize))
        }
        #expect(received.frames.withLock { $0.isEmpty })
    }
}
