import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Writes its letter into the frame's metadata.
private struct Letter: VideoProcessor {
    let letter: String
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        frame.metadata["trail", default: ""] += letter
        return frame
    }
}

/// Runs a closure on each frame.
private struct Step: VideoProcessor {
    let body: @Sendable (consuming VideoFrame) throws -> VideoFrame?
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? { try body(frame) }
}

/// Writes every pixel, and records the address of the pixels before and after.
private final class Painter: VideoProcessor, Sendable {
    let addresses = Mutex<[[UInt]]>([])
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let before = try frame.address
        try frame.withMutablePlanes { $0[0].fill(1) }
        let after = try frame.address
        addresses.withLock { $0.append([before, after]) }
        return frame
    }
}

@Suite(.hangGuard)
struct BridgeProcessorTests {
    private func run(
        _ processors: [any VideoProcessor & Sendable], outputs: [String] = ["fakesink"]
    ) async throws -> BridgeReport {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=6 ! video/x-raw,format=GRAY8,width=64,height=48",
            outputs: outputs)
        plan.processors = processors
        let report = await (try Bridge(plan)).run()
        expectBalanced(report)
        return report
    }

    @Test func processorsRunInTheirOrder() async throws {
        let trails = Mutex<[String?]>([])
        let note = Step { frame in
            let trail = frame.metadata["trail"]
            trails.withLock { $0.append(trail) }
            return frame
        }
        _ = try await run([Letter(letter: "a"), Letter(letter: "b"), Letter(letter: "c"), note])
        #expect(trails.withLock { $0 } == Array(repeating: "abc", count: 6))
    }

    @Test func droppedFrameReachesNoLaterProcessor() async throws {
        let offered = Atomic<Int>(0)
        let reached = Atomic<Int>(0)
        let report = try await run([
            Step { frame in
                offered.add(1, ordering: .relaxed).newValue == 2 ? nil : frame
            },
            Step { frame in
                reached.add(1, ordering: .relaxed)
                return frame
            },
        ])
        #expect(reached.load(ordering: .relaxed) == 5)
        #expect(report.captures["video"]?.dropped[.processor] == 1)
        #expect(report.outputs["output"]?.frames == 5)
    }

    @Test func frameIsCopiedAtMostOnceForAllWritingProcessors() async throws {
        let painters = [Painter(), Painter(), Painter()]
        _ = try await run(painters)
        // The appsink holds the buffer during its callback, so the first processor gets a copy.
        for painter in painters.dropFirst() {
            let addresses = painter.addresses.withLock { $0 }
            #expect(addresses.count == 6)
            for pair in addresses { #expect(pair[0] == pair[1]) }
        }
    }

    @Test func sharedFrameIsCopiedOnceAndStaysUnchanged() async throws {
        let painters = [Painter(), Painter()]
        let held = Mutex<[VideoFrame]>([])
        let keep = Step { frame in
            var frame = frame
            try frame.withMutablePlanes { $0[0].fill(7) }
            let kept = frame
            held.withLock { $0.append(kept) }
            return frame
        }
        _ = try await run([keep] + painters)
        let (first, second) = (
            painters[0].addresses.withLock { $0 }, painters[1].addresses.withLock { $0 }
        )
        for (kept, (first, second)) in zip(held.withLock { $0 }, zip(first, second)) {
            #expect(first[0] != first[1])
            #expect(second[0] == second[1] && second[0] == first[1])
            #expect(try kept.firstByte == 7)
        }
    }

    @Test func everyOutputOfAStreamGetsEveryFrame() async throws {
        let report = try await run([Painter()], outputs: ["fakesink", "fakesink", "fakesink"])
        #expect(report.outputs.values.map(\.frames) == [6, 6, 6])
        #expect(report.captures["video"]?.frames == 6)
    }
}
