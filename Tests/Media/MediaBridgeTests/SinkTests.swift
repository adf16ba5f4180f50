import MediaBridge
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard)
struct SinkTests {
    private let format = VideoFormat(.i420, width: 64, height: 48)

    private func frames(_ count: Int64) throws -> [VideoFrame] {
        try (0..<count).map { index in
            var frame = try VideoFrame(
                format, runningTime: MediaTime(value: index, timescale: 25),
                duration: MediaTime(value: 1, timescale: 25))
            try frame.withMutablePlanes { planes in
                for plane in 0..<planes.count {
                    let plane = planes[plane]
                    plane.fill(UInt8(index * 3 & 0xff))
                }
            }
            return frame
        }
    }

    @Test func everyWrittenFrameIsInTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let sink = try PipelineVideoSink(
                "x264enc ! matroskamux ! filesink location=\(path)")
            for frame in try frames(75) { try await sink.write(frame) }
            let report = try await sink.finish()
            expectBalanced(report.balance)
            #expect(report.balance.offered == 75)
            #expect(report.frames == 75)
            #expect(report.dropped.total == 0)
            #expect(try await MediaProbe(of: path).video?.frames == 75)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.first == 0 && times.last == 2.96)
        }
    }

    @Test func missingAndBackwardTimestampsAreRefused() async throws {
        let sink = try PipelineVideoSink("fakesink")
        let all = try frames(3)
        try await sink.write(all[1])
        var untimed = all[2]
        untimed.runningTime = nil
        for (frame, cause) in [(untimed, DropCause.noTime), (all[0], .backwards)] {
            let error = await #expect(throws: PipelineError.self) { try await sink.write(frame) }
            #expect(error?.code == .noTime)
            #expect(sink.statistics.dropped[cause] == 1)
        }
        try await sink.write(all[2])
        let report = try await sink.finish()
        expectBalanced(report.balance)
        #expect(report.frames == 2)
    }

    @Test func secondStartHasNoEffect() async throws {
        let sink = try PipelineVideoSink("fakesink")
        let all = try frames(5)
        for frame in all.prefix(3) { try await sink.write(frame) }
        try await sink.start()
        for frame in all.suffix(2) { try await sink.write(frame) }
        let report = try await sink.finish()
        expectBalanced(report.balance)
        #expect(report.balance.offered == 5 && report.frames == 5)
    }

    @Test func frameBeforeTheStartIsRefused() async throws {
        let sink = try PipelineVideoSink("fakesink")
        let error = #expect(throws: PipelineError.self) { try sink.render(try frames(1)[0]) }
        #expect(error?.code == .invalidState)
        #expect(error?.message.contains("not started") == true)
    }

    @Test func outputThatWasNeverStartedFails() async throws {
        let sink = try PipelineVideoSink("fakesink")
        for frame in try frames(3) { #expect(sink.consume(frame) == .dropped(.closed)) }
        let error = await #expect(throws: PipelineError.self) { try await sink.finish() }
        #expect(error?.code == .invalidState)
        #expect(error?.message == "the output was never started, and 3 frames were refused")
        #expect(sink.statistics.dropped[.closed] == 3)
    }

    @Test func writeAfterAnEmptyFinishStartsANewRun() async throws {
        let sink = try PipelineVideoSink("fakesink")
        #expect(try await sink.finish().frames == 0)
        for frame in try frames(2) { try await sink.write(frame) }
        #expect(try await sink.finish().frames == 2)
    }

    @Test func fullDiskFailsWriteAndFinish() async throws {
        let sink = try PipelineVideoSink("filesink location=/dev/full buffer-mode=2")
        let error = await #expect(throws: PipelineError.self) {
            for frame in try frames(200) { try await sink.write(frame) }
        }
        #expect(error?.code == .noSpaceLeft)
        let end = await #expect(throws: PipelineError.self) { try await sink.finish() }
        #expect(end?.code == .noSpaceLeft)
    }

    @Test func outputThatEndsItselfIsReported() async throws {
        try await withTemporaryDirectory { directory in
            let sink = try PipelineVideoSink(
                "videoconvert ! pngenc snapshot=true ! filesink location=\(directory.file("a.png"))"
            )
            let error = await #expect(throws: PipelineError.self) {
                for frame in try frames(200) { try await sink.write(frame) }
            }
            #expect(error?.code == .invalidState)
            try await sink.finish()
            #expect(directory.contents == ["a.png"])
        }
    }

    @Test func programMemoryIsWrappedAndReleasedOnce() async throws {
        final class Count: Sendable { let value = Atomic<Int>(0) }
        let count = Count()
        // A sink that keeps its last buffer holds the memory until it stops.
        let sink = try PipelineVideoSink(
            "appsrc name=video ! tee name=t ! queue ! fakesink sync=false "
                + "t. ! queue ! appsink name=out sync=false max-buffers=1 drop=true")
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4608, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 77)
        let address = UInt(bitPattern: memory.baseAddress)
        do {
            let frame = try VideoFrame(unsafeNoCopy: memory, format: format, runningTime: .zero) {
                count.value.add(1, ordering: .relaxed)
                UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
            }
            try await sink.write(frame)
        }
        #expect(count.value.load(ordering: .relaxed) == 0)
        let out = try #require(sink.pipeline.appSinks["out"])
        let reader = SampleReader(out)
        let seen = try await reader.next().address
        #expect(seen == address)
        // The appsink holds its last sample until it delivers the next.
        try await sink.write(try #require(try frames(2).last))
        _ = try await reader.next()
        try await sink.finish()
        #expect(count.value.load(ordering: .relaxed) == 1)
    }

    @Test func stridesAndOffsetsOfTheProgramsMemoryReachTheFile() async throws {
        try await withTemporaryDirectory { directory in
            // 33×17 luma in rows of 100 bytes that begin at byte 10; the file has packed rows.
            let gray = VideoFormat(.gray8, width: 33, height: 17)
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2000, alignment: 16)
            memory.initializeMemory(as: UInt8.self, repeating: 255)
            for y in 0..<17 { for x in 0..<33 { memory[10 + y * 100 + x] = UInt8(x + y) } }
            let address = UInt(bitPattern: memory.baseAddress)
            let frame = try VideoFrame(
                unsafeNoCopy: memory, format: gray,
                planes: [VideoPlaneLayout(offset: 10, stride: 100, rows: 17, width: 33)],
                runningTime: .zero
            ) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
            let path = directory.file("out.png")
            try await frame.writePicture(to: path)
            let luma = try await MediaProbe.luma(of: path, columns: 33, rows: 17)
            let expected = (0..<17).flatMap { y in (0..<33).map { UInt8($0 + y) } }
            #expect(luma == [expected])
        }
    }

    @Test func changedSizeAndFormatAreConvertedToTheFirst() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            let sink = try PipelineVideoSink("x264enc ! mp4mux ! filesink location=\(path)")
            let formats = [
                format, VideoFormat(.bgra, width: 200, height: 50),
                VideoFormat(.gray8, width: 31, height: 77), format,
            ]
            for index in 0..<40 {
                let frame = try VideoFrame(
                    formats[index / 10], runningTime: MediaTime(value: Int64(index), timescale: 25))
                try await sink.write(frame)
            }
            #expect(try await sink.finish().frames == 40)
            let video = try #require(try await MediaProbe(of: path).video)
            #expect(video.frames == 40)
            #expect(video.width == 64)
            #expect(video.height == 48)
        }
    }

    @Test func waitingWriterEndsWithTheOutput() async throws {
        var configuration = PipelineVideoSink.Configuration()
        configuration.queue = QueueLimit(buffers: 2)
        let sink = try PipelineVideoSink(
            "appsrc name=video ! appsink name=out max-buffers=1 sync=false",
            configuration: configuration)
        let all = try frames(30)
        let writer = Task {
            for frame in all { try await sink.write(frame) }
            return true
        }
        let reader = SampleReader(try #require(sink.pipeline.appSinks["out"]))
        for _ in 0..<30 {
            _ = try await reader.next()
            // The number of waiting frames is bounded: the queue, the sink's own frame, and one in
            // transit.
            let counts = sink.statistics
            #expect(counts.balance.offered - counts.frames <= 4)
        }
        #expect(try await writer.value)
        #expect(sink.statistics.balance.offered == 30)
        try await sink.finish()
    }
}
