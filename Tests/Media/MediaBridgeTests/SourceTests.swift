import MediaBridge
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard)
struct SourceTests {
    @Test func aFileGivesEveryFrameInOrderWithItsTime() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"
        )
        var times: [MediaTime?] = []
        for try await frame in source.frames() {
            times.append(frame.runningTime)
            #expect(frame.format.pixelFormat == .i420)
            #expect(frame.duration == MediaTime(value: 1, timescale: 25))
            #expect(frame.liveTiming == nil)
        }
        #expect(times == (0..<50).map { MediaTime(value: $0, timescale: 25) })
        #expect(source.statistics.offered == 50)
        expectBalanced(source.statistics)
        #expect(source.statistics.dropped.total == 0)
        #expect(source.isLive == false)
    }

    @Test func aSlowReaderOfAFileLosesNothing() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=40 ! video/x-raw,format=GRAY8,width=16,height=16 "
                + "! identity name=count")
        let passed = Observed(0)
        try #require(source.pipeline.element(named: "count")?.pad("src"))
            .onBuffer { passed.change { $0 += 1 } }
        let depth = PipelineVideoSource.Configuration().depth
        var count = 0
        for try await _ in source.frames() {
            count += 1
            // The reader waits until the queue is full; one more frame waits in front of it.
            let full = min(40, count + depth)
            await passed.wait { $0 >= full }
            #expect(passed.value <= full + 1)
        }
        #expect(count == 40)
    }

    @Test func aLiveCaptureDropsTheOldestForASlowReaderAndCounts() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=16,height=16,framerate=200/1 "
                + "! identity error-after=61")
        let isOver = Happening()
        source.pipeline.onMessage { if case .error = $0 { isOver.happen() } }
        var frames: [VideoFrame] = []
        await #expect(throws: PipelineError.self) {
            for try await frame in source.frames() {
                frames.append(frame)
                // Slow until the capture has ended: the queue drops frames that it has no room for.
                await isOver.wait()
            }
        }
        let statistics = source.statistics
        expectBalanced(statistics)
        #expect(source.isLive == true)
        #expect(statistics.offered == 60)
        #expect(frames.count + statistics.dropped[.evicted] == 60)
        // The frames of the queue, and one that the reader may have taken before it slowed down.
        let depth = PipelineVideoSource.Configuration().depth
        #expect((depth...depth + 1).contains(frames.count))
        #expect(frames.last?.runningTime ?? .zero > frames.first?.runningTime ?? .zero)
        #expect(frames.allSatisfy { $0.liveTiming != nil })
    }

    @Test func loopThrowsAnErrorAfterTheFramesBeforeIt() async throws {
        try await withTemporaryDirectory { directory in
            let text = try directory.write("no film at all, and not for long\n", to: "text.mp4")
            let source = try PipelineVideoSource("filesrc location=\(text) ! decodebin")
            let error = await #expect(throws: PipelineError.self) {
                for try await _ in source.frames() { Issue.record("a frame out of a text") }
            }
            #expect(error?.code == .streamFailed)
            #expect(error?.element?.contains("decodebin") == true)
        }
        // The error can arrive at any point of the reader's loop.
        let late = try PipelineVideoSource(
            "videotestsrc ! video/x-raw,format=GRAY8,width=16,height=16 ! identity error-after=5")
        for _ in 0..<100 {
            var count = 0
            await #expect(throws: PipelineError.self) {
                for try await _ in late.frames() { count += 1 }
            }
            #expect(count == 4)
        }
    }

    @Test func leavingTheLoopStopsTheCaptureAndItCanBeReadAgain() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=20 ! video/x-raw,format=GRAY8,width=16,height=16")
        for try await _ in source.frames() { break }
        var count = 0
        for try await frame in source.frames() {
            if count == 0 { #expect(frame.runningTime == .zero) }
            count += 1
        }
        #expect(count == 20)
    }

    @Test func firstReaderFailsWhenAnotherBegins() async throws {
        let source = try PipelineVideoSource("videotestsrc ! video/x-raw,format=GRAY8")
        var first = source.frames().makeAsyncIterator()
        _ = try await first.next()
        var second = source.frames().makeAsyncIterator()
        #expect(try await second.next() != nil)
        let error = await #expect(throws: PipelineError.self) { try await first.next() }
        #expect(error?.code == .invalidState)
        #expect(try await second.next() != nil)
    }

    @Test func cancelledReaderEndsWithoutAFrame() async throws {
        let source = try PipelineVideoSource(
            "appsrc name=never is-live=true ! video/x-raw,format=GRAY8,width=16,height=16,framerate=1/1"
                + " ! appsink")
        let isPlaying = Happening()
        source.pipeline.onMessage { if case .stateChanged(.playing) = $0 { isPlaying.happen() } }
        let reader = Task {
            var count = 0
            for try await _ in source.frames() { count += 1 }
            return count
        }
        await isPlaying.wait()
        reader.cancel()
        #expect(try await reader.value == 0)
    }

    @Test func formatFollowsTheCapsFrameByFrame() async throws {
        let source = try PipelineVideoSource(
            """
            concat name=c ! appsink
            videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=321,height=241 ! c.
            videotestsrc num-buffers=2 ! video/x-raw,format=BGRA,width=64,height=48 ! c.
            videotestsrc num-buffers=2 ! video/x-raw,format=P010_10LE,width=128,height=96 ! c.
            """)
        var seen: [String] = []
        for try await frame in source.frames() {
            seen.append("\(frame.format.pixelFormat) \(frame.width)×\(frame.height)")
            try frame.withPlanes { planes in
                let stride = planes[0].stride
                #expect(stride >= planes[0].layout.rowBytes)
                #expect(planes.format == frame.format)
            }
        }
        #expect(
            seen == [String](repeating: "I420 321×241", count: 3)
                + [String](repeating: "BGRA 64×48", count: 2)
                + [String](repeating: "P010_10LE 128×96", count: 2))
    }

    @Test func aFrameOutlivesItsPipeline() async throws {
        var kept: [VideoFrame] = []
        do {
            let source = try PipelineVideoSource(
                "videotestsrc num-buffers=3 pattern=white ! video/x-raw,format=GRAY8,width=32,height=8"
            )
            for try await frame in source.frames() { kept.append(frame) }
        }
        #expect(kept.count == 3)
        for frame in kept {
            let first = try frame.withPlanes { planes in
                planes[0].row(7)[31]
            }
            #expect(first > 230)
        }
    }

    @Test func sourceDeliversToTheConsumerOfAnEngine() async throws {
        final class Counter: VideoFrameConsumer {
            let times = Mutex<[MediaTime]>([])
            let ended = AsyncStream.makeStream(of: Void.self)
            func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
                let time = frame.runningTime ?? .zero
                if times.withLock({
                    $0.append(time); return $0.count
                }) % 10 == 0 {
                    ended.continuation.yield()
                }
                return .accepted
            }
        }
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=10 ! video/x-raw,format=GRAY8,width=16,height=16")
        let counter = Counter()
        source.consumer = counter
        #expect(source.bufferType() == .pixelBuffer)
        // Runs outside Swift's thread pool, as an engine does, because the calls block.
        try await onControlThread {
            let isReady = try source.shouldInitialize()
            #expect(isReady)
        }
        var ended = counter.ended.stream.makeAsyncIterator()
        for _ in 0..<2 {  // stop and start may repeat
            try await onControlThread { try source.shouldStart() }
            _ = await ended.next()
            try await onControlThread { try source.shouldStop() }
        }
        try await onControlThread { try source.shouldDispose() }
        #expect(source.consumer == nil)
        #expect(counter.times.withLock { $0.count } == 20)
    }
}
