import TestSupport
import Testing

@testable import MediaBridge

/// A file that the capture itself records is complete however the reader ends.
@Suite(.hangGuard) struct CaptureSinkTests {
    private static func capture(_ file: String, isLive: Bool, frames: Int? = nil) -> String {
        "videotestsrc is-live=\(isLive)\(frames.map { " num-buffers=\($0)" } ?? "") ! "
            + "video/x-raw,format=I420,width=160,height=120,framerate=60/1 ! tee name=t "
            + "t. ! queue ! x264enc speed-preset=ultrafast tune=zerolatency ! h264parse ! mp4mux ! "
            + "filesink location=\(file) t. ! queue ! appsink"
    }

    /// Waits for the EOS of a pipeline that no caller stops.
    private static func end(of messages: AsyncStream<BusMessage>) async {
        for await message in messages {
            if case .endOfStream = message { return }
        }
        Issue.record("the pipeline went without its end")
    }

    private static func frames(of file: String) async throws -> Int {
        try await MediaProbe(of: file).video?.frames ?? 0
    }

    @Test(arguments: [true, false]) func abandonedLoopCompletesItsFile(isLive: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            func look() async throws -> AsyncStream<BusMessage> {
                let source = try PipelineVideoSource(Self.capture(file, isLive: isLive))
                let messages = source.pipeline.messages
                for try await frame in source.frames() where frame.runningTime != .zero { break }
                return messages
            }
            await Self.end(of: try await look())
            #expect(try await Self.frames(of: file) > 0)
        }
    }

    @Test(arguments: [true, false]) func stoppedLoopCompletesItsFile(isLive: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            let source = try PipelineVideoSource(Self.capture(file, isLive: isLive))
            var frames = source.frames().makeAsyncIterator()
            for _ in 0..<5 { #expect(try await frames.next() != nil) }
            try await source.stop()
            #expect(try await Self.frames(of: file) >= 5)
        }
    }

    @Test func finishedLoopCompletesItsFile() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            let source = try PipelineVideoSource(Self.capture(file, isLive: false, frames: 30))
            for try await _ in source.frames() {}
            #expect(try await Self.frames(of: file) == 30)
        }
    }

    @Test func cancelledLoopCompletesItsFile() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            let source = try PipelineVideoSource(Self.capture(file, isLive: true))
            let (seen, see) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                for try await _ in source.frames() { see.yield() }
            }
            for await _ in seen { break }
            task.cancel()
            try await task.value
            #expect(try await Self.frames(of: file) > 0)
        }
    }

    @Test(arguments: [true, false]) func secondLoopCompletesItsFile(isLive: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let source = try PipelineVideoSource(
                Self.capture(directory.file("own.mp4"), isLive: isLive))
            var first = source.frames().makeAsyncIterator()
            #expect(try await first.next() != nil)
            var second = source.frames().makeAsyncIterator()
            for _ in 0..<5 { #expect(try await second.next() != nil) }
            try await source.stop()
            #expect(try await Self.frames(of: directory.file("own.mp4")) >= 5)
        }
    }

    @Test(arguments: [true, false]) func stoppedEngineCompletesItsFile(isLive: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            let receiver = Receiver()
            let source = try PipelineVideoSource(Self.capture(file, isLive: isLive))
            source.consumer = receiver
            try await onControl {
                let isReady = try source.shouldInitialize()
                #expect(isReady)
                try source.shouldStart()
            }
            await receiver.wait { $0.frames.count > 3 }
            try await onControl { try source.shouldStop() }
            #expect(try await Self.frames(of: file) > 3)
            try await onControl { try source.shouldDispose() }
            #expect(try await Self.frames(of: file) > 3)
        }
    }

    @Test(arguments: [true, false]) func releasedSourceCompletesItsFile(isLive: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            let receiver = Receiver()
            func run() async throws -> AsyncStream<BusMessage> {
                let source = try PipelineVideoSource(Self.capture(file, isLive: isLive))
                let messages = source.pipeline.messages
                source.consumer = receiver
                try await onControl {
                    _ = try source.shouldInitialize()
                    try source.shouldStart()
                }
                await receiver.wait { $0.frames.count > 3 }
                return messages
            }
            await Self.end(of: try await run())
            #expect(try await Self.frames(of: file) > 3)
        }
    }

    @Test(arguments: [true, false]) func stoppedBridgeCompletesItsFile(isLive: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.file("own.mp4")
            var plan = BridgePlan(
                capture: Self.capture(file, isLive: isLive), outputs: ["fakesink"])
            let (seen, see) = AsyncStream.makeStream(of: Void.self)
            plan.processors = [Seen { see.yield() }]
            let bridge = try Bridge(plan)
            async let report = bridge.run()
            for await _ in seen { break }
            bridge.stop()
            #expect(await report.ended == .interrupt)
            #expect(try await Self.frames(of: file) > 0)
        }
    }

    private struct Seen: VideoProcessor {
        let see: @Sendable () -> Void

        func process(_ frame: consuming VideoFrame) -> VideoFrame? {
            see()
            return frame
        }
    }
}
