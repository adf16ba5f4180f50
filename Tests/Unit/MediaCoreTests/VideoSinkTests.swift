import MediaCore
import Testing

/// The input of a sink that implements one of the three ways to render.
@Suite struct VideoSinkTests {
    /// Computes row addresses from the width, like code for RTC SDKs.
    private final class RawSink: VideoSink {
        var bytes: [UInt8] = []
        var rotation: VideoRotation?
        let count: Int
        init(count: Int) { self.count = count }
        func bufferType() -> VideoBufferType { .rawData }
        func renderRawData(
            _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
        ) {
            bytes = [UInt8](UnsafeRawBufferPointer(start: rawData, count: count))
            self.rotation = rotation
            // The sink may write to this memory.
            rawData.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        }
    }
    private final class PixelSink: VideoSink {
        var storage: (any VideoFrameStorage)?
        func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) {
            storage = pixelBuffer.storage
        }
    }
    private final class EmptySink: VideoSink {
        let type: VideoBufferType
        init(_ type: VideoBufferType) { self.type = type }
        func bufferType() -> VideoBufferType { type }
    }

    @Test(arguments: PackedFormats.all, RawPictureTests.sizes)
    func rawDataIsPackedForAnyStrides(
        format: VideoPixelFormat, size: VideoSize
    ) throws {
        let picture = try PackedFormats.padded(format, size)
        let before = try picture.rows()
        let planes = try format.packedPlanes(size)
        let expected = PackedFormats.bytes(planes)
        let sink = RawSink(count: expected.count)
        try sink.render(VideoFrame(picture, runningTime: nil, rotation: .rotation90))
        #expect(sink.bytes == expected)
        #expect(sink.rotation == .rotation90)
        #expect(try picture.rows() == before, "the sink wrote into its copy")
    }

    @Test func pixelBufferIsTheSameStorage() throws {
        let picture = try PackedFormats.padded(.i420, VideoSize(width: 5, height: 3))
        let sink = PixelSink()
        try sink.render(VideoFrame(picture, runningTime: nil))
        #expect(sink.storage === picture)
    }

    @Test(arguments: [VideoBufferType.pixelBuffer, .rawData])
    func errorNamesTheMissingSinkMethod(type: VideoBufferType) throws {
        let error = #expect(throws: FrameError.self) {
            try EmptySink(type).render(VideoFrame(try gray(), runningTime: nil))
        }
        #expect(error?.message.contains("EmptySink") == true)
        let method = type == .rawData ? "renderRawData" : "renderPixelBuffer"
        #expect(error?.message.contains(method) == true)
    }

    @Test func formatWithoutAPackedLayoutFailsOnlyForRawData() throws {
        let plane = VideoPlaneLayout(offset: 0, stride: 128, rows: 2, width: 48, pixelStride: 0)
        let picture = try MemoryFrameStorage(
            format: VideoFormat("v210", width: 48, height: 2), planes: [plane])
        let frame = VideoFrame(picture, runningTime: nil)
        let error = #expect(throws: FrameError.self) { try RawSink(count: 0).render(frame) }
        #expect(error?.code == .badFormat)
        try PixelSink().render(frame)
    }

    @Test func storageThatContradictsItsFormatIsAnError() throws {
        // One plane, although I420 has three; and planes smaller than the picture.
        let one = try MemoryFrameStorage(
            format: VideoFormat(.i420, width: 8, height: 8),
            planes: [VideoPlaneLayout(offset: 0, stride: 8, rows: 8, width: 8)])
        #expect(throws: FrameError.self) {
            try RawSink(count: 0).render(VideoFrame(one, runningTime: nil))
        }
        let small = try MemoryFrameStorage(
            format: VideoFormat(.gray8, width: 64, height: 64),
            planes: [VideoPlaneLayout(offset: 0, stride: 8, rows: 8, width: 8)])
        #expect(throws: FrameError.self) {
            try RawSink(count: 0).render(VideoFrame(small, runningTime: nil))
        }
    }
}
