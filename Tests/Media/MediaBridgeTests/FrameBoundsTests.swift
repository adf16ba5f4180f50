import Foundation
import MediaBridge
import TestSupport
import Testing

/// Frames whose caps describe more memory than the buffer has: mapping, filters and sinks report
/// an error or a drop.
@Suite(.hangGuard) struct FrameBoundsTests {
    /// Small pictures with a description of their planes, under the caps of large pictures.
    private static func lie(_ format: String, width: Int = 4000, height: Int = 4000) -> String {
        "videotestsrc num-buffers=3 ! video/x-raw,format=\(format),width=32,height=32 ! "
            + "videocrop left=2 top=2 ! capssetter caps=video/x-raw,width=\(width),height=\(height)"
    }

    private static let formats = [
        "I420", "RGB", "BGRA", "NV12", "GRAY8", "GRAY16_LE", "YUY2", "Y42B",
    ]

    private func frames(_ text: String) async throws -> [VideoFrame] {
        var all: [VideoFrame] = []
        for try await frame in try PipelineVideoSource(text).frames() { all.append(frame) }
        return all
    }

    @Test(arguments: formats) func mismatchedFramesCannotBeMapped(format: String) async throws {
        for (width, height) in [(4000, 4000), (31, 30), (30, 31), (30, 4000), (32768, 1)] {
            let text = Self.lie(format, width: width, height: height)
            var count = 0
            for try await frame in try PipelineVideoSource(text).frames() {
                count += 1
                var frame = frame
                var error = #expect(throws: FrameError.self) { try frame.withPlanes { _ in } }
                #expect(error?.code == .notMappable)
                // This frame is the only owner, so it maps the memory itself.
                error = #expect(throws: FrameError.self) { try frame.withMutablePlanes { _ in } }
                #expect(error?.code == .notMappable)
            }
            #expect(count == 3)
        }
    }

    @Test(arguments: formats) func filtersRefuseMismatchedFrames(format: String) async throws {
        for name in ["grayscale", "mirror", "rotate=90"] {
            // The grayscale filter passes gray frames through without reading them.
            if format.hasPrefix("GRAY"), name == "grayscale" { continue }
            let filter = try VideoFilter.named(name).filter
            let frames = try await frames(Self.lie(format))
            #expect(frames.count == 3)
            for frame in frames {
                #expect(throws: (any Error).self, "\(name)") { try filter.process(frame) }
            }
        }
    }

    @Test(arguments: formats) func sinksRefuseMismatchedFrames(format: String) async throws {
        for output in ["fakesink", "videoconvert ! pngenc ! fakesink", "x264enc ! fakesink"] {
            let frame = try #require(try await frames(Self.lie(format)).first)
            let sink = try PipelineVideoSink(output)
            let error = await #expect(throws: PipelineError.self) { try await sink.write(frame) }
            #expect(error?.code == .streamFailed)
            #expect(error?.message.contains("bytes") == true)
            #expect(sink.consume(frame) == .dropped(.badFormat))
            let counts = sink.statistics
            #expect(counts.frames == 0 && counts.dropped.total == 2, "\(counts)")
            _ = try? await sink.finish()
        }
    }

    @Test func snapshotsRefuseMismatchedFrames() async throws {
        try await withTemporaryDirectory { directory in
            let frame = try #require(try await frames(Self.lie("RGB")).first)
            await #expect(throws: PipelineError.self) {
                try await frame.writePicture(to: directory.file("a.png"))
            }
        }
    }

    /// Valid frames pass: cropped, padded, and with rows that are longer than their pixels.
    @Test(arguments: formats) func croppedPicturesAreRead(format: String) async throws {
        let text =
            "videotestsrc num-buffers=2 ! video/x-raw,format=\(format),width=33,height=31 ! "
            + "videocrop left=1 top=3 right=2 bottom=1"
        let frames = try await frames(text)
        #expect(frames.count == 2)
        for var frame in frames {
            try frame.withPlanes { #expect($0[0].row(26).count > 0) }
            try frame.withMutablePlanes { planes in
                let plane = planes[0]
                #expect(plane.row(26).count > 0)
            }
        }
    }

    /// Audio whose caps do not match its samples: interleaved instead of planar, or another sample
    /// format or channel count.
    @Test(arguments: ["layout=interleaved", "format=S16LE", "channels=2,channel-mask=(bitmask)0x3"])
    func mismatchedAudioFramesCannotBeMapped(caps: String) async throws {
        let text =
            "audiotestsrc num-buffers=2 ! audio/x-raw,format=F32LE,channels=4,layout=non-interleaved ! "
            + "capssetter caps=audio/x-raw,\(caps)"
        let source = try PipelineAudioSource(text)
        var count = 0
        for try await frame in source.frames() {
            count += 1
            #expect(throws: FrameError.self) { try frame.withBytes { _ in } }
            let sink = try PipelineAudioSink("audioconvert ! fakesink")
            let error = await #expect(throws: PipelineError.self) { try await sink.write(frame) }
            #expect(error?.code == .streamFailed)
            #expect(error?.message.contains("bytes") == true)
            _ = try? await sink.finish()
        }
        #expect(count == 2)
    }

    // MARK: Memory of the program's own

    private static func layout(
        _ rows: Int, _ width: Int, stride: Int = 16, offset: Int = 0, pixel: Int = 1
    ) -> VideoPlaneLayout {
        VideoPlaneLayout(
            offset: offset, stride: stride, rows: rows, width: width, pixelStride: pixel)
    }

    static let misfits: [(String, [VideoPlaneLayout])] = [
        ("one plane of three", [layout(8, 8)]),
        ("rows too few", [layout(7, 8), layout(4, 4), layout(4, 4)]),
        ("chroma rows too few", [layout(8, 8), layout(3, 4), layout(4, 4)]),
        ("rows too short", [layout(8, 7), layout(4, 4), layout(4, 4)]),
        ("samples elsewhere", [layout(8, 8, pixel: 2), layout(4, 4), layout(4, 4)]),
        ("four planes", [layout(8, 8), layout(4, 4), layout(4, 4), layout(4, 4)]),
    ]

    @Test(arguments: misfits)
    func planesThatDoNotMatchTheFormatAreRefused(
        what: String, planes: [VideoPlaneLayout]
    ) async throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        let format = VideoFormat(.i420, width: 8, height: 8)
        let error = #expect(throws: FrameError.self, "\(what)") {
            try VideoFrame(
                unsafeNoCopy: memory, format: format, planes: planes, runningTime: .zero
            ) { Issue.record("released, and was not taken") }
        }
        #expect(error?.code == .badLayout)
        // A frame created from a storage keeps these planes, and the sink refuses it.
        let storage = try MemoryFrameStorage(unsafeNoCopy: memory, format: format, planes: planes) {
        }
        let frame = VideoFrame(storage, runningTime: .zero)
        let sink = try PipelineVideoSink("videoconvert ! fakesink")
        let refusal = await #expect(throws: PipelineError.self) { try await sink.write(frame) }
        #expect(refusal?.code == .streamFailed)
        _ = try? await sink.finish()
    }

    @Test func planesWithGapsBetweenThemAreAccepted() async throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 128)
        let address = UInt(bitPattern: memory.baseAddress)
        let frame = try VideoFrame(
            unsafeNoCopy: memory, format: VideoFormat(.i420, width: 8, height: 8),
            planes: [
                Self.layout(10, 9, stride: 20), Self.layout(4, 4, offset: 256),
                Self.layout(5, 4, offset: 384),
            ], runningTime: .zero
        ) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
        let sink = try PipelineVideoSink("videoconvert ! video/x-raw,format=RGB ! fakesink")
        try await sink.write(frame)
        #expect(try await sink.finish().frames == 1)
    }
}
