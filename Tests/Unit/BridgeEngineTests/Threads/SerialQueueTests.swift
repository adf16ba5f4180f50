import Dispatch
import MediaBasics
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard)
struct SerialQueueTests {
    private final class Log: Sendable {
        let entries = Mutex<[Int]>([])
        func add(_ entry: Int) { entries.withLock { $0.append(entry) } }
        var all: [Int] { entries.withLock { $0 } }
    }

    @Test func workIsDoneInOrderAndOneAtATime() async {
        let (queue, log, isDone) = (SerialQueue(label: "test"), Log(), Happening())
        for number in 0..<10_000 {
            queue.async {
                log.add(number)
                if number == 9_999 { isDone.happen() }
            }
        }
        await isDone.wait()
        #expect(log.all == Array(0..<10_000))
    }

    @Test func synchronousWorkIsSerialized() async {
        let (queue, isDone) = (SerialQueue(label: "test"), Arrivals(8))
        final class Sum: Sendable { let value = Mutex(0) }
        let sum = Sum()
        for _ in 0..<8 {
            SerialQueue(label: "caller").async {
                for _ in 0..<500 {
                    // Reads and writes separately: a concurrent addition would be lost.
                    queue.sync {
                        let value = sum.value.withLock { $0 }
                        sum.value.withLock { $0 = value + 1 }
                    }
                    queue.async {
                        let value = sum.value.withLock { $0 }
                        sum.value.withLock { $0 = value + 1 }
                    }
                }
                queue.async { isDone.arrive() }
            }
        }
        await isDone.all.wait()
        #expect(sum.value.withLock { $0 } == 8 * 1000)
    }

    @Test func aQueueKnowsItsOwnThread() async {
        let (queue, other, isDone) = (
            SerialQueue(label: "one"), SerialQueue(label: "other"), Happening()
        )
        #expect(!queue.isCurrent)
        queue.async {
            #expect(queue.isCurrent && !other.isCurrent)
            isDone.happen()
        }
        await isDone.wait()
        #expect(queue.sync { queue.isCurrent })
        #expect(!queue.isCurrent)
        // Also while the queue's own thread yields to the caller's.
        for _ in 0..<200 {
            queue.async { #expect(queue.isCurrent) }
            #expect(queue.sync { queue.isCurrent })
            #expect(!queue.isCurrent)
        }
    }

    @Test func cancelledTimerReleasesItsClosure() {
        final class Held: Sendable {}
        weak var held: Held?
        do {
            let object = Held()
            held = object
            let timer = OneShotTimer(after: .seconds(3600)) { _ = object }
            timer.cancel()
        }
        #expect(held == nil)
    }

    @Test func everyTimerRunsWhenItIsDue() async {
        let (log, isDone) = (Log(), Arrivals(20))
        let queue = SerialQueue(label: "test")
        let timers = (0..<20).reversed().map { number in
            OneShotTimer(after: .milliseconds(number)) {
                queue.async {
                    log.add(number)
                    isDone.arrive()
                }
            }
        }
        await isDone.all.wait()
        #expect(Set(log.all) == Set(0..<20))
        timers.forEach { $0.cancel() }
    }

    @Test func cancelledHeartbeatStops() async {
        let (queue, beats, count) = (SerialQueue(label: "test"), Arrivals(5), Log())
        let heartbeat = Heartbeat(every: .milliseconds(2), on: queue) {
            count.add(0)
            beats.arrive()
        }
        await beats.all.wait()
        let after = queue.sync {
            heartbeat.cancel()
            return count.all.count
        }
        // Work that was queued earlier runs before this.
        let isOver = Happening()
        queue.async { isOver.happen() }
        await isOver.wait()
        #expect(count.all.count == after)
    }
}
