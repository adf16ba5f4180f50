import CMediaBridge
import Dispatch
import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

@testable import GStreamerKit

/// At every stage of a program, each incoming frame is written, dropped for a cause, or waiting.
@Suite(.hangGuard)
struct BalanceTests {
    private static let tiny = "video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1"

    @Test func engineCountsFramesDroppedByASinksQueue() async throws {
        let engine = MediaEngine()
        let events = engine.events
        let sink = try PipelineVideoSink("identity sleep-time=100000 ! fakesink sync=false")
        try await engine.setVideoSource(
            PipelineVideoSource("videotestsrc is-live=true num-buffers=60 ! \(Self.tiny)"))
        let id = try await engine.addVideoSink(sink, to: .local())
        try await engine.startPreview()
        for await event in events { if case .sourceEnded = event { break } }
        await expectBalanced(engine, isOver: false)
        try await engine.stopPreview()
        let counts = try #require(await engine.statistics.videoSinks[id])
        let report = sink.statistics
        expectBalanced(report.balance)
        expectBalanced(counts.balance)
        #expect(counts.balance.delivered == report.balance.delivered)
        #expect(counts.balance.dropped[.evicted] >= report.dropped[.evicted])
        #expect(report.dropped[.evicted] > 0)
        try await engine.removeVideoSink(id)
        #expect(await engine.statistics.removed.videoSinks.latest[id]?.balance == counts.balance)
        await engine.shutDown()
        await expectBalanced(engine)
    }

    @Test func slowlyReadSourceCountsWaitingAndDroppedFramesSeparately() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! \(Self.tiny) ! identity name=count")
        let passed = Observed(0)
        try #require(source.pipeline.element(named: "count")?.pad("src"))
            .onBuffer { passed.change { $0 += 1 } }
        var frames = source.frames().makeAsyncIterator()
        _ = try await frames.next()
        await passed.wait { $0 > 20 }
        let statistics = source.statistics
        expectBalanced(statistics, isOver: false)
        #expect(statistics.waiting <= 3 && statistics.delivered == 1)
        #expect(statistics.dropped[.evicted] >= 16)
        try await source.stop()
        expectBalanced(source.statistics)
        #expect(try await frames.next() == nil)
    }

    @Test func bridgeCountsDropsButNotUnwantedFrames() async throws {
        var plan = BridgePlan(
            capture: "videotestsrc is-live=true ! \(Self.tiny)",
            outputs: ["identity sleep-time=100000 ! fakesink sync=false", "fakesink"])
        plan.frameLimit = 60
        let report = try await Bridge(plan).run().get()
        expectBalanced(report)
        let capture = try #require(report.captures["video"])
        #expect(capture.balance.delivered == 60)
        for output in report.outputs.values { #expect(output.balance.offered == 60) }
        #expect(report.outputs["output"]?.balance.dropped[.evicted] ?? 0 > 0)
    }

    @Test(arguments: [
        "fakesink", "filesink location=/dev/full buffer-mode=2",
        "videorate ! video/x-raw,framerate=5/1 ! fakesink",
        "videorate ! video/x-raw,framerate=50/1 ! fakesink",
        "videoconvert ! pngenc snapshot=true ! fakesink", "identity error-after=7 ! fakesink",
    ])
    func frameCountsOfAnyOutputAddUp(output: String) async throws {
        let report = await
            (try Bridge(
                BridgePlan(
                    capture: "videotestsrc num-buffers=200 ! video/x-raw,format=I420,width=64,"
                        + "height=48,framerate=25/1", outputs: [output]))).run()
        expectBalanced(report)
        let counts = try #require(report.outputs["output"])
        #expect(counts.balance.offered <= 200 && counts.balance.delivered > 0)
    }

    @Test func recorderInAnEngineReportsItsDrops() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = MediaEngine.Configuration()
            configuration.isRealTime = false
            let engine = MediaEngine(configuration: configuration)
            let events = engine.events
            let recorder = try Recorder(directory.file("out.mkv"))
            try await engine.setVideoSource(
                PipelineVideoSource("videotestsrc num-buffers=60 ! \(Self.tiny)"))
            try await engine.addRecorder(recorder)
            try recorder.start()
            recorder.pause()
            try await engine.startPreview()
            for await event in events { if case .sourceEnded = event { break } }
            try await engine.stopPreview()
            _ = try? await recorder.stop()  // nothing was recorded
            expectBalanced(recorder.report)
            let counts = try #require(await engine.statistics.videoSinks.values.first)
            #expect(counts.balance.dropped[.paused] == 60 && counts.balance.delivered == 0)
            await engine.shutDown()
            await expectBalanced(engine)
        }
    }

    /// A display that falls behind makes converters drop frames long before the display sees them.
    @Test(arguments: ["", " max-lateness=20000000"])
    func framesDroppedByConvertersAreCounted(sink: String) async throws {
        let report = try await Bridge.run(
            capture: "videotestsrc num-buffers=20 ! video/x-raw,format=I420,framerate=30/1",
            outputs: [
                "identity sleep-time=50000 ! videoconvert ! video/x-raw,format=RGB "
                    + "! fakesink sync=true qos=true" + sink
            ])
        let output = try #require(report.outputs["output"])
        #expect(output.frames + output.dropped.total == 20)
        #expect(output.dropped[.late] > 0)
    }

    @Test(arguments: 0..<4)
    func slowOutputDropsFramesWithTheirDependents(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var configuration = PipelineSink.Configuration()
        (configuration.queue, configuration.whenFull) = (QueueLimit(buffers: 4), .evictOldest)
        let sink = try PipelineVideoSink(
            "identity name=gate ! fakesink sync=false", configuration: configuration)
        let gate = DispatchSemaphore(value: 0)
        try #require(sink.pipeline.element(named: "gate")?.pad("sink")).onBuffer { gate.wait() }
        try await sink.start()
        let units = try await EncodedUnits.h264(200)
        var (canFollow, accepted) = (false, 0)
        for (number, unit) in units.enumerated() {
            if Int.random(in: 0..<3, using: &random) == 0 { gate.signal() }
            let result = sink.consume(unit)
            guard result.isAccepted else {
                canFollow = false
                continue
            }
            #expect(unit.isKeyFrame || canFollow, "seed \(seed), frame \(number)")
            (canFollow, accepted) = (true, accepted + 1)
        }
        for _ in units { gate.signal() }
        let report = try await sink.finish()
        expectBalanced(report.balance)
        #expect(report.frames == accepted && accepted < units.count)
        #expect(report.dropped[.evicted] == 0 && report.dropped[.queueFull] > 0, "\(report)")
    }

    /// A push may take as long as the conversion of a large frame.
    @Test func countsAreReadDuringAPush() async throws {
        let sink = try PipelineVideoSink("identity name=gate ! fakesink sync=false")
        try await sink.start()
        let (pushes, pushing) = AsyncStream<Void>.makeStream()
        let hold = DispatchSemaphore(value: 0)
        let pad = try #require(sink.pipeline.element(named: "gate")?.pad("sink"))
        pad.addProbe(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) { _, _ in
            pushing.yield()
            hold.wait()
            return GST_PAD_PROBE_OK
        }
        let frame = try await #require(
            PipelineVideoSource("videotestsrc num-buffers=1 ! \(Self.tiny)").frames()
                .first { _ in true })
        let (results, pushed) = AsyncStream<FrameDisposition>.makeStream()
        Thread.detachNewThread { pushed.yield(sink.consume(frame)) }
        for await _ in pushes { break }
        #expect(sink.statistics.balance.offered == 0)
        for _ in 0..<100 { hold.signal() }
        for await result in results {
            #expect(result == .accepted)
            break
        }
        #expect(try await sink.finish().frames == 1)
    }
}
