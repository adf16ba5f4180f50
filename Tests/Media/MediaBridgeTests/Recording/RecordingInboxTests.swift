import Foundation
import MediaBasics
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// The path from encoders to the writer, over a long recording.
@Suite(.hangGuard) struct RecordingInboxTests {
    /// Marks and units wait together, and only units count.
    @Test(arguments: 0..<24)
    func queuedMarksDoNotBlockEncoders(seed: UInt64) async throws {
        try GStreamer.initialize()
        var random = SeededGenerator(seed: seed)
        let inbox = RecordingInbox(queue: SerialQueue(label: "writer"))
        inbox.onItems {}
        let marks = Int.random(in: 0...300, using: &random)
        let counts = [RecordedStream.video: 400, .audio: 300]
        let ends = Observed(0)
        for (stream, count) in counts {
            for index in 0..<marks / 2 {
                inbox.put(.mark("\(index)", at: MediaTime(seconds: Double(index))))
            }
            Thread.detachNewThread {
                for index in 0..<count {
                    guard let buffer = Buffer.copying([1]), let caps = try? Caps("video/x-test")
                    else { break }
                    let unit = EncodedUnit(
                        stream, buffer, caps: caps, time: MediaTime(seconds: Double(index)),
                        isFirst: false, arrival: .zero)
                    inbox.put(unit, generation: 1)
                    if index % 3 == 0 {
                        inbox.put(.mark("", at: MediaTime(seconds: Double(index))))
                    }
                }
                ends.change { $0 += 1 }
            }
        }
        var (taken, most) = ([RecordedStream: Int](), 0)
        while taken.values.reduce(0, +) < 700 {
            if Int.random(in: 0..<3, using: &random) == 0 { await Task.yield() }
            var waiting = 0
            for case .unit(let unit, _) in inbox.takeAll() {
                taken[unit.stream, default: 0] += 1
                waiting += 1
            }
            most = max(most, waiting)
        }
        #expect(taken == counts, "seed \(seed)")
        // Each of the two encoders may find the last place at once.
        #expect(most <= 65, "seed \(seed)")
        await ends.wait { $0 == 2 }
        inbox.close()
    }

    @Test func writerCallDepthDoesNotGrowWithTheUnitCount() {
        let queue = SerialQueue(label: "writer")
        let inbox = RecordingInbox(queue: queue)
        let depths = Mutex<[Int]>([])
        inbox.onItems { [inbox] in
            _ = inbox.takeAll()
            depths.withLock { $0.append(Thread.callStackReturnAddresses.count) }
        }
        for _ in 0..<500 {
            inbox.put(.live)
            queue.sync {}
        }
        inbox.close()
        let all = depths.withLock { $0 }
        #expect(all.count == 500)
        // The queue may add a few stack frames.
        #expect((all.max() ?? 0) - (all.first ?? 0) < 20, "\(all.prefix(3)) … \(all.suffix(3))")
    }
}
