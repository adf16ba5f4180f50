import BridgeEngine
import MediaCore
import TestSupport
import Testing

@Suite struct FanOutTests {
    @Test func everyReceiverGetsTheSamePixels() throws {
        let fan = FanOut()
        let receivers = (0..<3).map { _ in Collector() }
        for receiver in receivers { fan.add(receiver) }
        let picture = try frame()
        let address = try picture.address()
        #expect(fan.consume(picture) == .accepted)
        for receiver in receivers {
            let got = try #require(receiver.frames.first)
            #expect(receiver.frames.count == 1)
            #expect(got.storage === picture.storage)
            #expect(try got.address() == address)
        }
    }

    @Test func aReceiverThatWritesHarmsNoOther() throws {
        let fan = FanOut()
        let (a, b) = (Collector(), Collector())
        fan.add(a)
        fan.add(b)
        fan.consume(try frame())
        var mine = try #require(a.frames.first)
        try mine.fill(200)
        let theirs = try #require(b.frames.first)
        #expect(
            try theirs.withPlanes { planes in
                let plane = planes[0]
                return plane.bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
            } == 0)
    }

    @Test func withoutAReceiverAFrameIsDroppedAsClosed() throws {
        #expect(FanOut().consume(try frame()) == .dropped(.closed))
    }

    @Test(
        arguments: [
            ([.accepted, .dropped(.late)], .accepted),
            ([.dropped(.late), .accepted], .accepted),
            ([.dropped(.late), .accepted, .dropped(.early)], .accepted),
            ([.dropped(.late), .dropped(.early)], .dropped(.early)),
        ] as [([FrameDisposition], FrameDisposition)])
    func aFrameIsAcceptedWhereOneReceiverTakesIt(
        answers: [FrameDisposition], expected: FrameDisposition
    ) throws {
        let fan = FanOut()
        let receivers = answers.map { Collector(answering: $0) }
        for receiver in receivers { fan.add(receiver) }
        #expect(fan.consume(try frame()) == expected)
        // A receiver that drops a frame never keeps it from the others.
        #expect(receivers.allSatisfy { $0.frames.count == 1 })
    }

    @Test func everyLinkCountsForItself() throws {
        let fan = FanOut()
        let good = fan.add(Collector())
        let late = fan.add(Collector(answering: .dropped(.late)))
        for _ in 0..<3 { fan.consume(try frame()) }
        #expect(good.pushed == 3 && good.dropped.total == 0)
        #expect(late.pushed == 0 && late.dropped[.late] == 3 && late.dropped.total == 3)
    }

    @Test func aRemovedReceiverGetsNoMore() throws {
        let fan = FanOut()
        let (a, b) = (Collector(), Collector())
        let first = fan.add(a)
        fan.add(b)
        fan.consume(try frame(1))
        fan.remove(first)
        fan.remove(first)
        fan.consume(try frame(2))
        #expect(a.frames.map(\.milliseconds) == [1])
        #expect(b.frames.map(\.milliseconds) == [1, 2])
        #expect(first.pushed == 1)
    }

    @Test func oneReceiverMayBeLinkedTwice() throws {
        let fan = FanOut()
        let receiver = Collector()
        let first = fan.add(receiver)
        let second = fan.add(receiver)
        fan.consume(try frame())
        #expect(receiver.frames.count == 2)
        fan.remove(first)
        fan.consume(try frame())
        #expect(receiver.frames.count == 3)
        #expect(second.pushed == 2)
    }

    /// Adds and removes receivers during a delivery, which would deadlock if a lock were held.
    private final class Rearranging: VideoFrameConsumer {
        private unowned let fan: FanOut  // which holds this
        init(_ fan: FanOut) { self.fan = fan }
        /// Accepts raw frames only.
        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { .wrongBufferType }

        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            fan.remove(fan.add(Collector()))
            return .accepted
        }
    }

    @Test(.hangGuard) func aReceiverMayRearrangeTheFanOut() throws {
        let fan = FanOut()
        let link = fan.add(Rearranging(fan))
        fan.consume(try frame())
        #expect(link.pushed == 1)
    }

    @Test(.hangGuard) func receiversComeAndGoWhileFramesFlow() async throws {
        let fan = FanOut()
        let steady = Collector()
        let link = fan.add(steady)
        let picture = try frame()
        await withTaskGroup { group in
            group.addTask { for _ in 0..<1000 { fan.consume(picture) } }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<300 {
                        let visitor = Collector(answering: .dropped(.late))
                        let visit = fan.add(visitor)
                        fan.remove(visit)
                        _ = visit.dropped
                    }
                }
            }
        }
        #expect(link.pushed == 1000)
        #expect(steady.frames.count == 1000)
    }
}
