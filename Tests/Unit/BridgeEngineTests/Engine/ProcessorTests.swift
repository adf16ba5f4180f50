import BridgeEngine
import Dispatch
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// A processor that runs a closure.
struct Work: VideoProcessor {
    let body: @Sendable (consuming VideoFrame) throws -> VideoFrame?
    init(_ body: @escaping @Sendable (consuming VideoFrame) throws -> VideoFrame?) {
        self.body = body
    }
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? { try body(frame) }

    /// Adds an entry to each frame's metadata.
    static func mark(_ key: String) -> Work {
        Work { frame in
            var frame = frame
            frame.metadata[key] = "yes"
            return frame
        }
    }
}

/// Correct and faulty processors at the three processing points.
@Suite(.hangGuard, .balanced)
struct ProcessorTests {
    let source = SourceScript("A")
    let sink = SinkScript()

    private func running(
        _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
    ) async throws -> MediaEngine {
        let engine = makeEngine { change(&$0) }
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.startPreview()
        return engine
    }

    @Test(arguments: ProcessingPoint.allCases)
    func eachProcessingPointAffectsOnlyLaterStages(_ point: ProcessingPoint) async throws {
        let network = LoopbackNetwork()
        let (engine, other) = (makeEngine(transport: network), makeEngine(transport: network))
        let remote = SinkScript()
        try await other.setRemoteVideoRenderer(ScriptedSink(remote), forUserID: 1)
        try await other.joinChannel("room", userID: 2, role: .audience)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink))
        try await engine.setVideoProcessors([Work.mark("seen")], at: point)
        try await engine.joinChannel("room", userID: 1)
        try source.deliver(0)
        await sink.rendered(1)
        await remote.rendered(1)
        let (local, sent) = (sink.frames[0].metadata["seen"], remote.frames[0].metadata["seen"])
        #expect(local == (point == .encode ? nil : "yes"))
        #expect(sent == (point == .render ? nil : "yes"))
        await engine.shutDown()
        await other.shutDown()
    }

    @Test func processorMayReadWriteOrReplaceAFrame() async throws {
        let engine = try await running()
        let replacement = try PixelBuffer(.gray8, size: VideoSize(width: 2, height: 2))
        try await engine.setVideoProcessors(
            [
                Work { frame in
                    _ = try frame.withPlanes { $0.count }
                    return frame
                }
            ], at: .capture)
        let original = try frame(0)
        source.deliver(original)
        await sink.rendered(1)
        #expect(sink.frames[0].storage === original.storage)
        try await engine.setVideoProcessors(
            [
                Work { frame in
                    var frame = frame
                    try frame.fill(7)
                    return frame
                }
            ], at: .capture)
        let second = try frame(1)
        source.deliver(second)
        await sink.rendered(2)
        let (written, before) = (try sink.frames[1].firstByte(), try second.firstByte())
        #expect(written == 7)
        // Another owner held the picture, so it was copied before the write.
        #expect(before == 0)
        try await engine.setVideoProcessors(
            [Work { $0.replacingPixels(replacement.storage) }], at: .capture)
        try source.deliver(2)
        await sink.rendered(3)
        #expect(sink.frames[2].storage === replacement.storage)
        try await engine.setVideoProcessors([], at: .capture)
        let last = try frame(3)
        source.deliver(last)
        await sink.rendered(4)
        #expect(sink.frames[3].storage === last.storage)
        await engine.shutDown()
    }

    @Test func processorReturningNilIsCountedAsADrop() async throws {
        let engine = try await running()
        try await engine.setVideoProcessors(
            [Work { $0.milliseconds.isMultiple(of: 2) ? $0 : nil }, Work.mark("kept")],
            at: .capture)
        // The engine assigns its own times, so only the processor sees the parity.
        for number in 0..<10 { try source.deliver(number) }
        try await engine.stopPreview()
        let statistics = await engine.statistics
        let dropped = try #require(statistics.local[.main]).dropped.total
        let evicted = try #require(statistics.videoSinks.values.first).balance.dropped.total
        #expect(sink.frames.count + dropped + evicted == 10)
        #expect(sink.frames.allSatisfy { $0.metadata["kept"] == "yes" })
        await engine.shutDown()
    }

    /// Every step of the engine moves the frame; a second reference would force a copy for each
    /// write.
    @Test func aProcessorThatWritesCopiesNothing() async throws {
        let engine = try await running()
        let (copies, isHandedOver) = (Counted(), DispatchSemaphore(value: 0))
        struct Pen: VideoProcessor {
            let copies: Counted
            let isHandedOver: DispatchSemaphore

            func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
                // By now the source has released the frame.
                isHandedOver.wait()
                let before = ObjectIdentifier(frame.storage)
                try frame.withMutablePlanes { $0[0].fill(1) }
                if ObjectIdentifier(frame.storage) != before { _ = copies.next() }
                return frame
            }
        }
        try await engine.setVideoProcessors(
            [Pen(copies: copies, isHandedOver: isHandedOver)], at: .capture)
        for number in 0..<20 {
            try source.deliver(number)
            isHandedOver.signal()
            await sink.rendered(number + 1)
        }
        await engine.shutDown()
        #expect(copies.next() == 0)
    }

    @Test func processorThatThrowsThreeTimesIsBypassed() async throws {
        let engine = try await running()
        let events = engine.events
        try await engine.setVideoProcessors(
            [Work { _ in throw Refusal(reason: "no model") }, Work.mark("seen")], at: .capture)
        for number in 0..<3 {
            try source.deliver(number)
            if number != 1 { await events.first(named: "processorFailed") }
        }
        for number in 3..<6 {
            try source.deliver(number)
            await sink.rendered(number - 2)
        }
        let drops = await engine.statistics.local[.main]?.dropped
        #expect(drops?[.processor] == 3)
        #expect(sink.frames.allSatisfy { $0.metadata["seen"] == "yes" })
        await engine.shutDown()
        #expect(await events.rest().count("processorFailed") == 0)
    }

    @Test func occasionalProcessorFailuresAreTolerated() async throws {
        let engine = try await running()
        let count = Counted()
        try await engine.setVideoProcessors(
            [
                Work { frame in
                    if count.next() % 3 != 2 { throw Refusal(reason: "now and then") }
                    return frame
                }
            ], at: .capture)
        for round in 0..<4 {
            for number in 0..<3 { try source.deliver(round * 3 + number) }
            await sink.rendered(round + 1)
        }
        try await engine.stopPreview()
        #expect(await engine.statistics.local[.main]?.dropped[.processor] == 8)
        await engine.shutDown()
    }

    @Test func hangingProcessorIsBypassed() async throws {
        let engine = try await running()
        let events = engine.events
        let (hang, isInside) = (DispatchSemaphore(value: 0), Happening())
        try await engine.setVideoProcessors(
            [
                Work.mark("first"),
                Work { frame in
                    if !isInside.hasHappened {
                        isInside.happen()
                        hang.wait()
                    }
                    return frame
                },
            ], at: .capture)
        try source.deliver(0)
        await isInside.wait()
        for number in 1..<4 { try source.deliver(number) }
        engine.time.advance(by: .seconds(5))
        await events.first(named: "processorFailed")
        try source.deliver(10)
        await sink.rendered(1)
        // A late result is discarded.
        hang.signal()
        try source.deliver(11)
        await sink.rendered(2)
        try await engine.stopPreview()
        // The engine does not wait for an abandoned processor: its frame is counted when the call
        // returns.
        let statistics = await engine.statistics { $0.local[.main]?.balance.waiting == 0 }
        let drops = try #require(statistics.local[.main]?.dropped)
        let unrendered = statistics.videoSinks.values.reduce(0) { $0 + $1.balance.dropped.total }
        #expect(sink.times == sink.times.sorted())
        // The frame that hung, and the frames that waited behind it when the processor was
        // abandoned.
        #expect(drops[.processor] >= 1)
        #expect(sink.frames.count + drops.total + unrendered == 6)
        #expect(sink.frames.allSatisfy { $0.metadata["first"] == "yes" })
        await engine.shutDown()
    }

    @Test func aSlowProcessorDelaysNoSource() async throws {
        let engine = try await running()
        let (hang, isInside) = (DispatchSemaphore(value: 0), Happening())
        try await engine.setVideoProcessors(
            [
                Work { frame in
                    isInside.happen()
                    hang.wait()
                    hang.signal()
                    return frame
                }
            ], at: .capture)
        try source.deliver(0)
        await isInside.wait()
        for number in 1..<20 { try source.deliver(number) }
        let drops = await engine.statistics.local[.main]?.dropped
        // One frame is inside, four wait.
        #expect(drops?[.evicted] == 15)
        hang.signal()
        try await engine.stopPreview()
        let rest = try #require(await engine.statistics.videoSinks.values.first)
        #expect(rest.balance.offered == 5)
        await engine.shutDown()
    }

    @Test func processorsForAMissingTrackAreAnError() async throws {
        let engine = makeEngine()
        let error = await #expect(throws: EngineError.self) {
            try await engine.setVideoProcessors([], at: .capture, track: 5)
        }
        #expect(error?.code == .invalidArgument)
        await engine.shutDown()
    }
}

extension VideoFrame {
    func firstByte() throws -> UInt8? {
        try withPlanes { planes in
            let plane = planes[0]
            return plane.withUnsafeBytes { $0.first }
        }
    }
}
