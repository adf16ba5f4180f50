import Dispatch
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// A queue of encoded frames in front of an appsrc whose receiver may stall.
@Suite(.hangGuard) struct EncodedFeedTests {
    /// Takes one buffer for each signal.
    private final class Receiver: Sendable {
        let pipeline: Pipeline
        let input: AppSource
        private let gate = DispatchSemaphore(value: 0)
        private let sizes = Observed<[Int]>([])
        private let (ends, ended) = AsyncStream<Void>.makeStream()

        init() throws {
            pipeline = try Pipeline(
                parsing: "appsrc name=in format=time ! appsink name=out sync=false")
            input = try #require(pipeline.appSources["in"])
            let sink = try #require(pipeline.appSinks["out"])
            sink.configure(depth: 1, isPaced: false)
            sink.setHandlers(
                onSample: { [gate, sizes] in
                    gate.wait()
                    guard let sample = sink.tryPull(), let buffer = sample.buffer else {
                        return false
                    }
                    let size = buffer.byteCount
                    sizes.change { $0.append(size) }
                    return true
                }, onEnd: { [ended] in ended.finish() })
        }

        func take(_ count: Int) { for _ in 0..<count { gate.signal() } }

        /// Takes the rest, and returns the sizes of all buffers.
        func finish() async throws -> [Int] {
            take(100_000)
            input.endOfStream()
            for await _ in ends {}
            try await pipeline.setState(.null)
            pipeline.appSinks["out"]?.removeHandlers()
            return sizes.value
        }
    }

    private static func frame(_ size: Int, isKey: Bool) -> EncodedVideoFrame {
        var bytes = [UInt8](repeating: 1, count: size)
        bytes.replaceSubrange(0..<5, with: [0, 0, 0, 1, isKey ? 0x65 : 0x41])
        return EncodedVideoFrame(.h264, bytes: bytes, runningTime: .zero)
    }

    private static func push(
        _ frame: EncodedVideoFrame, at time: MediaTime, into feed: EncodedFeed
    ) -> FrameDisposition {
        feed.push(frame.references, due: { time }) { try frame.wrapped() }
    }

    @Test func refusesFramesBeyondTwoSecondsAndGoesOnWithAKeyframe() async throws {
        let receiver = try Receiver()
        let feed = EncodedFeed(receiver.input, mayGoBack: false)
        try await receiver.pipeline.setState(.playing)
        var results: [FrameDisposition] = []
        for number in 0..<150 {
            let frame = Self.frame(100 + number, isKey: number % 30 == 0)
            results.append(
                Self.push(frame, at: MediaTime(seconds: Double(number) / 30), into: feed))
        }
        // Of five seconds two wait, and up to two frames are on their way.
        let taken = results.count { $0.isAccepted }
        #expect((60...64).contains(taken), "\(taken)")
        #expect(results.prefix(taken).allSatisfy { $0.isAccepted })
        #expect(results.dropFirst(taken).allSatisfy { $0 == .dropped(.queueFull) })
        expectBalanced(feed.counts)
        let sizes = try await receiver.finish()
        #expect(sizes == (0..<taken).map { 100 + $0 })
    }

    @Test(arguments: 0..<8)
    func randomlySlowQueueHoldsOnlyDecodableFrames(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let receiver = try Receiver()
        let feed = EncodedFeed(receiver.input, mayGoBack: Bool.random(using: &random))
        try await receiver.pipeline.setState(.playing)
        let interval = [1, 8, 33, 500].randomElement(using: &random)!
        let largest = [200, 20_000, 900_000].randomElement(using: &random)!
        var (time, canFollow, taken) = (0, false, [Int]())
        var (isStandingStill, offered) = (false, 0)
        for number in 0..<600 {
            if Int.random(in: 0..<60, using: &random) == 0 { isStandingStill.toggle() }
            if !isStandingStill { receiver.take(Int.random(in: 0...3, using: &random)) }
            let isKey = Int.random(in: 0..<20, using: &random) == 0
            // A frame that the sender itself does not deliver.
            if Int.random(in: 0..<40, using: &random) == 0 {
                _ = feed.lose(.dropped(.noTime))
                (canFollow, offered) = (false, offered + 1)
                continue
            }
            let size = Int.random(in: 100...largest, using: &random)
            let result = Self.push(
                Self.frame(size, isKey: isKey), at: MediaTime(nanoseconds: Int64(time) * 1_000_000),
                into: feed)
            offered += 1
            time += interval
            #expect(
                receiver.input.queuedBytes <= 8_000_000 + largest
                    && receiver.input.queuedBuffers <= 1024, "seed \(seed), frame \(number)")
            guard result.isAccepted else {
                canFollow = false
                continue
            }
            #expect(isKey || canFollow, "seed \(seed), frame \(number)")
            canFollow = true
            taken.append(size)
        }
        expectBalanced(feed.counts)
        #expect(feed.counts.offered == offered && feed.counts.delivered == taken.count)
        let sizes = try await receiver.finish()
        #expect(sizes == taken, "seed \(seed)")
        #expect(feed.byteCount == taken.reduce(0, +))
    }

    @Test func aNewRunBeginsWithAKeyframeAndCountsFromZero() async throws {
        let receiver = try Receiver()
        let feed = EncodedFeed(receiver.input, mayGoBack: false)
        try await receiver.pipeline.setState(.playing)
        #expect(Self.push(Self.frame(100, isKey: true), at: .zero, into: feed).isAccepted)
        feed.reset()
        let delta = Self.frame(101, isKey: false)
        #expect(Self.push(delta, at: .zero, into: feed) == .dropped(.needsKeyFrame))
        #expect(feed.counts.offered == 1 && feed.counts.dropped[.needsKeyFrame] == 1)
        #expect(try await receiver.finish() == [100])
    }
}
