import Foundation
import MediaBasics
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// The path from encoders to the writer, over a long recording.
@Suite(.hangGuard) struct RecordingInboxTests {
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
