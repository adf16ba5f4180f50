import Dispatch
import MediaBasics
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

@Suite(.hangGuard) struct MailboxTests {
    /// A mailbox whose queue is blocked until ``flow()``.
    private struct Rig {
        let queue = SerialQueue(label: "test")
        private let standstill = DispatchSemaphore(value: 0)
        let time = VirtualTimeline()
        let taken = Taken()
        let mailbox: Mailbox<Int>

        final class Taken: Sendable {
            private let items = Mutex<[Int]>([])
            var list: [Int] { items.withLock { $0 } }
            func add(_ item: Int) { items.withLock { $0.append(item) } }
        }

        init(depth: Int) {
            let taken = taken
            queue.async { [standstill] in standstill.wait() }
            mailbox = Mailbox(depth: depth, on: queue, of: time) { taken.add($0) }
        }

        func flow() async -> [Int] {
            standstill.signal()
            await withCheckedContinuation { done in queue.async { done.resume() } }
            return taken.list
        }
    }

    @Test func fullMailboxDropsTheOldestItem() async {
        let rig = Rig(depth: 2)
        #expect(rig.mailbox.post(1) == .taken)
        #expect(rig.mailbox.post(2) == .taken)
        #expect(rig.mailbox.post(3) == .acceptedByEvictingOldest)
        #expect(rig.mailbox.waitingItems == 2)
        #expect(await rig.flow() == [2, 3])
    }

    @Test func undroppableItemsNeedNoRoomAndKeepTheirOrder() async {
        let rig = Rig(depth: 2)
        for item in 1...3 {
            rig.mailbox.post(item)
            rig.mailbox.post(item * 100, whenFull: .keep)
        }
        #expect(rig.mailbox.post(4) == .acceptedByEvictingOldest)
        #expect(rig.mailbox.waitingItems == 5)
        #expect(await rig.flow() == [100, 200, 3, 300, 4])
    }

    @Test func closedMailboxRefusesItemsAndDeliversTheRest() async {
        let rig = Rig(depth: 2)
        rig.mailbox.post(1)
        rig.mailbox.close()
        #expect(rig.mailbox.post(2) == .closed)
        #expect(rig.mailbox.post(3, whenFull: .keep) == .closed)
        rig.mailbox.open()
        #expect(rig.mailbox.post(4) == .taken)
        #expect(await rig.flow() == [1, 4])
    }

    @Test func abandonedMailboxDiscardsWaitingItems() async {
        let rig = Rig(depth: 2)
        rig.mailbox.post(1)
        rig.mailbox.post(2, whenFull: .keep)
        #expect(rig.mailbox.abandonedItems() == [1, 2])
        #expect(rig.mailbox.abandon() == 0)
        #expect(await rig.flow() == [])
    }

    @Test func sealIsTheLastItem() async {
        let rig = Rig(depth: 1)
        rig.mailbox.post(1)
        #expect(rig.mailbox.seal(with: 2).verdict == .taken)
        #expect(rig.mailbox.post(3) == .closed)
        #expect(rig.mailbox.seal(with: 4).verdict == .closed)
        #expect(await rig.flow() == [1, 2])
    }

    @Test func onlyTheFirstItemWakesTheReader() async {
        let rig = Rig(depth: 8)
        #expect(rig.mailbox.place(1).needsWake)
        #expect(!rig.mailbox.place(2).needsWake)
        rig.mailbox.wake()
        #expect(await rig.flow() == [1, 2])
        #expect(rig.mailbox.place(3).needsWake)
    }

    @Test func waitingPosterIsRefusedOrReleased() async {
        let rig = Rig(depth: 1)
        rig.mailbox.post(1)
        #expect(rig.mailbox.post(2, whenFull: .wait(atMost: .zero)) == .full)
        let poster = BlockingPost { rig.mailbox.post(3, whenFull: .wait(atMost: .seconds(50))) }
        rig.mailbox.close()
        #expect(await poster.verdict == .closed)
        rig.mailbox.open()
        let other = BlockingPost { rig.mailbox.post(4, whenFull: .wait(atMost: .seconds(50))) }
        _ = await rig.flow()
        #expect(await other.verdict == .taken)
    }

    /// A post on a thread that may block.
    private struct BlockingPost {
        private let task: Task<Mailbox<Int>.Verdict, Never>
        init(_ post: @escaping @Sendable () -> Mailbox<Int>.Verdict) {
            task = Task {
                await withCheckedContinuation { done in
                    DispatchQueue.global().async { done.resume(returning: post()) }
                }
            }
        }
        var verdict: Mailbox<Int>.Verdict { get async { await task.value } }
    }

    @Test func aLongQueueKeepsItsOrder() {
        var fifo = Fifo<Int>()
        var next = 0
        var expected = 0
        for round in 0..<300 {
            for _ in 0..<(round % 7) {
                fifo.append(next)
                next += 1
            }
            for _ in 0..<(round % 5) where !fifo.isEmpty {
                #expect(fifo.first == expected)
                #expect(fifo.popFirst() == expected)
                expected += 1
            }
            #expect(fifo.count == next - expected)
        }
        #expect(fifo.removeAll() == Array(expected..<next))
        #expect(fifo.popFirst() == nil && fifo.isEmpty)
    }
}
