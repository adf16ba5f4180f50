import MediaBasics
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

/// A sink that has its own queue is called on the thread that delivers the frames.
@Suite(.hangGuard)
struct InlineSinkTests {
    /// A sink that can refuse to take frames at once, and can hang.
    private final class Sink: Sendable {
        struct State {
            var takesAtOnce = true
            var hang: Hang?
            var threads: [UInt] = []
            var times: [Int64] = []
        }
        let state = Mutex(State())
        let queue = SerialQueue(label: "test.feed")

        /// Returns when the queued frames are rendered.
        func drain() async { await queue.outcome(within: .seconds(60), on: .system) {} }

        func render(_ item: VideoSinkFeed.Item) -> FrameDisposition {
            state.withLock { $0.hang.take() }?.wait()
            guard case .picture(let frame) = item.frame else { return .dropped(.wrongBufferType) }
            state.withLock { state in
                state.threads.append(currentThread())
                state.times.append(frame.milliseconds)
            }
            return .accepted
        }
    }

    private func makeFeed(_ sink: Sink, depth: Int = 4) -> VideoSinkFeed {
        let backend = TestBackend()
        let clock = EngineClock(
            backend, isOffline: true, latency: .zero, timeline: backend.time)
        return VideoSinkFeed(
            SinkQueueOptions(depth: depth), clock: clock, queueTimeout: .seconds(10),
            on: sink.queue,
            rendersAtOnce: { _ in sink.state.withLock { $0.takesAtOnce } }
        ) { sink.render($0) }
    }

    private func offer(_ milliseconds: Int, to feed: VideoSinkFeed) throws -> FrameDisposition {
        feed.offer(VideoSinkFeed.Item(frame: .picture(try frame(milliseconds))))
    }

    @Test func immediateFrameIsRenderedOnTheDeliveringThread() throws {
        let sink = Sink()
        let feed = makeFeed(sink)
        for number in 0..<3 { #expect(try offer(number, to: feed) == .accepted) }
        #expect(sink.state.withLock { $0.times } == [0, 1, 2])
        #expect(sink.state.withLock { Set($0.threads) } == [currentThread()])
        #expect(feed.balance.delivered == 3 && feed.balance.waiting == 0)
    }

    @Test func waitingFrameIsRenderedOnTheThreadOfTheSink() async throws {
        let sink = Sink()
        sink.state.withLock { $0.takesAtOnce = false }
        let feed = makeFeed(sink)
        let hang = Hang()
        sink.state.withLock { $0.hang = hang }
        #expect(try offer(0, to: feed) == .accepted)
        await hang.entered()
        // It is not blocked by the frame that hangs, and does not overtake it.
        sink.state.withLock { $0.takesAtOnce = true }
        #expect(try offer(1, to: feed) == .accepted)
        #expect(sink.state.withLock { $0.times } == [])
        hang.signal()
        await sink.drain()
        #expect(sink.state.withLock { $0.times } == [0, 1])
    }

    @Test func aClosedSinkIsNotCalled() throws {
        let sink = Sink()
        let feed = makeFeed(sink)
        feed.close()
        #expect(try offer(0, to: feed) == .dropped(.notStarted))
        #expect(sink.state.withLock { $0.times } == [])
        #expect(feed.balance.dropped[.notStarted] == 1)
    }

    @Test func immediateAndWaitingFramesKeepTheirOrder() async throws {
        for seed: UInt64 in 1...50 {
            var random = SeededGenerator(seed: seed)
            let sink = Sink()
            let feed = makeFeed(sink, depth: 64)
            for number in 0..<40 {
                let takesAtOnce = Bool.random(using: &random)
                sink.state.withLock { $0.takesAtOnce = takesAtOnce }
                #expect(try offer(number, to: feed) == .accepted)
            }
            await sink.drain()
            #expect(sink.state.withLock { $0.times } == (0..<40).map { Int64($0) }, "seed \(seed)")
            #expect(feed.balance.delivered == 40)
        }
    }
}
