import MediaBridge
import Synchronization
import TestSupport
import Testing

/// A cancelled task ends its waits.
@Suite(.hangGuard) struct CancellationTests {
    @Test func cancelledBridgeCompletesItsFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            let (frames, first) = AsyncStream<Void>.makeStream()
            let running = Task {
                try await Bridge.run(
                    capture: "videotestsrc is-live=true ! video/x-raw,width=64,height=48",
                    outputs: ["x264enc tune=zerolatency ! mp4mux ! filesink location=\(path)"]
                ) { _ in first.yield() }
            }
            // EOS may overtake the frame that the closure is processing, but not the one before.
            var frame = frames.makeAsyncIterator()
            for _ in 0..<2 { await frame.next() }
            running.cancel()
            let report = try await running.value
            #expect(report.ended == .interrupt)
            #expect(report.failures.isEmpty)
            let written = try #require(report.outputs["output"]?.frames)
            #expect(written > 0)
            #expect(try await MediaProbe(of: path).video?.frames == written)
        }
    }

    @Test func bridgeInACancelledTaskEndsImmediately() async throws {
        let running = Task {
            await Happening().wait()  // returns because the task is cancelled
            return try await Bridge.run(capture: "videotestsrc is-live=true", outputs: ["fakesink"])
        }
        running.cancel()
        #expect(try await running.value.ended == .interrupt)
    }

    @Test func cancellationReleasesABlockedWriter() async throws {
        // The sink shows nothing before its time, and the frame is due in a day.
        var configuration = PipelineVideoSink.Configuration()
        configuration.stallTimeout = .milliseconds(100)
        let sink = try PipelineVideoSink("fakesink sync=true", configuration: configuration)
        let frames = try PipelineVideoSource("videotestsrc num-buffers=1").frames()
        var iterator = frames.makeAsyncIterator()
        let frame = try #require(try await iterator.next())
        let (waiting, begin) = AsyncStream<Int>.makeStream()
        let writing = Task {
            for index in 0..<1000 {
                var next = frame
                next.runningTime = MediaTime(seconds: 86400 * Double(min(index, 1)))
                begin.yield(index)
                try await sink.write(next)
            }
        }
        // Far more than the queue and the sink hold together, unless the task is cancelled on the
        // way.
        for await index in waiting where index >= 4 { break }
        writing.cancel()
        let error = await #expect(throws: PipelineError.self) { try await writing.value }
        #expect(error?.code == .interrupted)
        _ = try? await sink.finish()
    }
}
