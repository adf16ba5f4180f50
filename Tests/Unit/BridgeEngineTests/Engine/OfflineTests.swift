import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Runs as fast as possible: no frame is lost, and two runs give the same result.
@Suite(.hangGuard, .balanced)
struct OfflineTests {
    private func run(_ frames: Int, processors: [any VideoProcessor & Sendable]) async throws
        -> [MediaTime]
    {
        let (source, slow, fast) = (
            SourceScript(needsPacing: true), SinkScript(), SinkScript()
        )
        let engine = makeEngine { $0.isRealTime = false }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(slow))
        try await engine.addVideoSink(ScriptedSink(fast), to: .local())
        for point in ProcessingPoint.allCases {
            try await engine.setVideoProcessors(processors, at: point)
        }
        try await engine.startPreview()
        let hang = slow.block("render")
        async let isDelivered: Void = blocking {
            for number in 0..<frames {
                // The run does not take real time: the frames span hours.
                #expect((try? source.deliver(number * 20_000)) == .accepted)
            }
        }
        // The source waits for the slow renderer.
        await engine.time.alarms(in: engine.configuration.stallTimeout * 10)
        hang.signal()
        await isDelivered
        // Frames in transit arrive before the end.
        try await engine.stopPreview()
        await engine.shutDown()
        #expect(slow.frames.count == frames)
        #expect(fast.frames.count == frames)
        #expect(slow.frames.map(\.runningTime) == fast.frames.map(\.runningTime))
        #expect(fast.frames.allSatisfy { $0.liveTiming == nil })
        return fast.frames.compactMap(\.runningTime)
    }

    @Test func offlineRunsAreLosslessAndReproducible() async throws {
        let (first, second) = (
            try await run(200, processors: []), try await run(200, processors: [])
        )
        #expect(first == second)
        #expect(first.first == .zero)
        #expect(first.last == MediaTime(.milliseconds(199 * 20_000)))
    }

    @Test func processorsLoseNoFrameOffline() async throws {
        let times = try await run(200, processors: [Work { $0 }, Work.mark("seen")])
        #expect(times.count == 200)
    }

    @Test func processorsMayChangeWhileFramesFlow() async throws {
        let (source, sink) = (SourceScript(), SinkScript())
        let engine = makeEngine { $0.isRealTime = false }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        let pump = Pump(source)
        for round in 0..<30 {
            let marks = (0..<round % 3).map { Work.mark("\($0)") }
            try await engine.setVideoProcessors(marks, at: .capture)
            try await engine.setVideoProcessors(marks, at: .render)
            await sink.rendered(sink.frames.count + 5)
        }
        await pump.stop()
        try await engine.stopPreview()
        await engine.shutDown()
        #expect(sink.frames.count == pump.accepted)
        let times = sink.frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
    }

    @Test func secondSourceContinuesWhereTheFirstEnded() async throws {
        let (a, b, sink) = (SourceScript("A"), SourceScript("B"), SinkScript())
        let engine = makeEngine { $0.isRealTime = false }
        try await engine.setVideoSource(ScriptedSource(a))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        for number in 0..<3 { try a.deliver(1000 + number * 40) }
        try b.deliverAtStart(7000)
        try await engine.setVideoSource(ScriptedSource(b))
        try b.deliver(7040)
        try await engine.stopPreview()
        await engine.shutDown()
        #expect(sink.times == [0, 40, 80, 120, 160])
    }
}
