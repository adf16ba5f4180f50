import Dispatch
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// The queue in front of an output is bounded by number, bytes or time.
@Suite(.hangGuard) struct QueueLimitTests {
    @Test(arguments: [
        ("100", QueueLimit(buffers: 100)), ("3s", QueueLimit(time: .seconds(3))),
        ("500ms", QueueLimit(time: .milliseconds(500))),
        ("1.5s", QueueLimit(time: .milliseconds(1500))),
        ("20MB", QueueLimit(bytes: 20_000_000)), ("512kB", QueueLimit(bytes: 512_000)),
        ("64B", QueueLimit(bytes: 64)), ("0", nil), ("-1", nil), ("0s", nil), ("0MB", nil),
        ("", nil),
        ("soon", nil), ("3 s", nil), ("MB", nil), ("20M", nil),
    ])
    func limitIsATimeASizeOrACount(text: String, limit: QueueLimit?) {
        #expect(QueueLimit(text) == limit)
    }

    private static let size = 64 * 48

    private static func frame(_ number: Int, every interval: Int64) throws -> VideoFrame {
        try VideoFrame(
            VideoFormat(.i420, width: 64, height: 32),
            runningTime: MediaTime(nanoseconds: Int64(number) * interval),
            duration: MediaTime(nanoseconds: interval))
    }

    /// An output that takes one frame for each signal.
    private static func output(
        _ limit: QueueLimit, _ whenFull: WhenFull
    ) throws -> (sink: PipelineVideoSink, source: AppSource, gate: DispatchSemaphore) {
        var configuration = PipelineSink.Configuration()
        (configuration.queue, configuration.whenFull) = (limit, whenFull)
        let sink = try PipelineVideoSink(
            "identity name=gate ! fakesink sync=false", configuration: configuration)
        let gate = DispatchSemaphore(value: 0)
        try #require(sink.pipeline.element(named: "gate")?.pad("sink")).onBuffer { gate.wait() }
        return (sink, try #require(sink.pipeline.appSources.values.first), gate)
    }

    private static let intervals: [Int64] = [1_000_000, 33_366_667, 1_000_000_000]

    /// Returns one bound or two, and how many frames they let wait.
    private static func limit(
        every interval: Int64, _ random: inout SeededGenerator
    ) -> (QueueLimit, most: Int) {
        var (limit, most) = (QueueLimit(), Int.max)
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let frames = Int.random(in: 1...40, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: limit.buffers = frames
            case 1: limit.bytes = frames * Self.size
            default: limit.time = .nanoseconds(Int64(frames) * interval)
            }
        }
        if let buffers = limit.buffers { most = min(most, buffers) }
        if let bytes = limit.bytes { most = min(most, bytes / Self.size) }
        if let time = limit.time { most = min(most, Int(time / .nanoseconds(interval))) }
        return (limit, most)
    }

    @Test(arguments: 0..<16)
    func fullQueueDropsAndCountsItsOldestFrames(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let interval = Self.intervals.randomElement(using: &random)!
        let (limit, most) = Self.limit(every: interval, &random)
        let (sink, source, gate) = try Self.output(limit, .evictOldest)
        try await sink.start()
        for number in 0..<200 {
            if Int.random(in: 0..<3, using: &random) == 0 { gate.signal() }
            #expect(sink.consume(try Self.frame(number, every: interval)).isAccepted)
            // A buffer still counts while the source's thread sends the segment before it.
            #expect(source.queuedBuffers <= most + 1, "seed \(seed), \(limit), frame \(number)")
        }
        for _ in 0..<200 { gate.signal() }
        let report = try await sink.finish()
        expectBalanced(report.balance)
        #expect(report.frames + report.dropped[.evicted] == 200, "seed \(seed), \(report)")
        #expect(report.frames >= most, "seed \(seed), \(limit), \(report)")
    }

    @Test(arguments: 0..<16)
    func aWriterWaitsForRoomAndLosesNothing(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let interval = Self.intervals.randomElement(using: &random)!
        let (limit, most) = Self.limit(every: interval, &random)
        let (sink, source, gate) = try Self.output(limit, .wait)
        try await sink.start()
        let isByTask = Bool.random(using: &random)
        let writer = Task.detached {
            for number in 0..<120 {
                let frame = try Self.frame(number, every: interval)
                if isByTask {
                    try await sink.write(frame)
                } else {
                    #expect(sink.consume(frame).isAccepted)
                }
            }
        }
        for _ in 0..<120 {
            gate.signal()
            #expect(source.queuedBuffers <= most, "seed \(seed), \(limit)")
        }
        try await writer.value
        let report = try await sink.finish()
        expectBalanced(report.balance)
        #expect(report.frames == 120 && report.dropped.total == 0, "seed \(seed), \(report)")
    }

    /// Frames without a duration between them would never fill a queue that only time limits.
    @Test func framesWithoutADurationAreLimitedByCount() async throws {
        let (sink, source, gate) = try Self.output(QueueLimit(time: .seconds(1)), .evictOldest)
        try await sink.start()
        var frame = try Self.frame(0, every: 0)
        frame.duration = nil
        for _ in 0..<17_000 { _ = sink.consume(frame) }
        #expect(source.queuedBuffers <= 16_384)
        for _ in 0..<17_000 { gate.signal() }
        expectBalanced(try await sink.finish().balance)
    }

    @Test(arguments: [
        QueueLimit(buffers: -1), QueueLimit(bytes: -1), QueueLimit(time: .seconds(-1)),
    ])
    func negativeLimitDoesNotTrap(limit: QueueLimit) async throws {
        let (sink, _, gate) = try Self.output(limit, .evictOldest)
        try await sink.start()
        for number in 0..<3 { _ = sink.consume(try Self.frame(number, every: 1_000_000)) }
        for _ in 0..<3 { gate.signal() }
        expectBalanced(try await sink.finish().balance)
    }

    @Test func outputsOfABridgeHaveTheirOwnLimits() async throws {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=32",
            outputs: ["fakesink", "fakesink"])
        plan.outputConfiguration.queue = QueueLimit(buffers: 7)
        plan.queues = ["output-2": QueueLimit(time: .seconds(2))]
        let bridge = try Bridge(plan)
        #expect(await bridge.run().outputs.values.allSatisfy { $0.frames == 30 })
        plan.queues = ["screen": QueueLimit(buffers: 1)]
        let error = #expect(throws: PipelineError.self) { try Bridge(plan) }
        #expect(error?.message.contains("\"screen\"") == true)
        #expect(error?.advice == "one of: \"output\", \"output-2\"")
    }

    @Test func pipelineFilesLimitAllOutputsOrOne() throws {
        let outputs = "capture: videotestsrc\noutputs: {a: fakesink, b: fakesink}\n"
        let all = try BridgePlan(yaml: outputs + "queue: 3s\n", path: "x.yaml")
        #expect(
            all.outputConfiguration.queue == QueueLimit(time: .seconds(3)) && all.queues.isEmpty)
        let one = try BridgePlan(yaml: outputs + "queue: {b: 20MB}\n", path: "x.yaml")
        #expect(one.outputConfiguration.queue == nil)
        #expect(one.queues == ["b": QueueLimit(bytes: 20_000_000)])
    }
}
