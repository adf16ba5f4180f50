import GStreamerKit
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard) struct AppSinkTests {
    @Test func otherElementsAreNotAppSinks() throws {
        let pipeline = try Pipeline(
            parsing: "videotestsrc name=v ! appsink name=a appsrc name=s ! fakesink")
        #expect(pipeline.appSinks.keys.sorted() == ["a"])
        #expect(pipeline.appSources.keys.sorted() == ["s"])
        let source = try #require(pipeline.element(named: "v"))
        #expect(AppSink(source) == nil && AppSource(source) == nil)
        #expect(pipeline.element(named: "nobody") == nil)
    }

    @Test func explicitQueueLimitIsKept() throws {
        let pipeline = try Pipeline(
            parsing: "fakesrc ! appsink name=a max-buffers=7 fakesrc ! appsink name=b")
        let (a, b) = (try #require(pipeline.appSinks["a"]), try #require(pipeline.appSinks["b"]))
        a.configure(depth: 3, isPaced: true)
        b.configure(depth: 3, isPaced: false)
        #expect(a.depth == 7 && b.depth == 3)
        #expect(a.element.bool("sync") && !b.element.bool("sync"))
        b.deepen(to: 2)
        #expect(b.depth == 3)
        b.deepen(to: 9)
        #expect(b.depth == 9)
        #expect(!b.dropsOldest)
        b.dropsOldest = true
        #expect(b.dropsOldest)
    }

    @Test func aPacedFileLosesNothingAndEnds() async throws {
        let pipeline = try Pipeline(
            parsing:
                "videotestsrc num-buffers=50 ! video/x-raw,width=16,height=16,framerate=25/1 ! appsink name=a"
        )
        let sink = try #require(pipeline.appSinks["a"])
        sink.configure(depth: 2, isPaced: false)
        defer { sink.forgetHandlers() }
        let times = Mutex<[Int64]>([])
        let (ends, ended) = AsyncStream<Void>.makeStream()
        sink.setHandlers(
            onSample: {
                guard let sample = sink.tryPull(), let buffer = sample.buffer,
                    buffer.presentationTime != nil, let running = sample.runningTime
                else { return false }
                times.withLock { $0.append(running) }
                return true
            }, onEnd: { ended.finish() })
        try await pipeline.setState(.playing)
        for await _ in ends {}
        #expect(sink.isEnded)
        #expect(sink.isFed)
        #expect(times.withLock { $0 } == (0..<50).map { Int64($0) * 40_000_000 })
        try await pipeline.setState(.null)
    }

    /// When the appsink takes the next buffer while the application still holds the sample, it
    /// copies the sample that it keeps, and with it its reference to the buffer.
    @Test func aBufferStaysWritableWhileTheAppSinkTakesTheNext() async throws {
        let pipeline = try Pipeline(
            parsing: "videotestsrc num-buffers=50000 ! video/x-raw,format=GRAY8,width=16,height=16 "
                + "! appsink name=a")
        let info = try VideoInfo(format: "GRAY8", width: 16, height: 16)
        let sink = try #require(pipeline.appSinks["a"])
        sink.configure(depth: 2, isPaced: false)
        defer { sink.forgetHandlers() }
        let (newest, pulled) = AsyncStream<OneBuffer>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        sink.setHandlers(
            onSample: {
                guard let sample = sink.tryPull(), let buffer = sample.takeBuffer() else {
                    return false
                }
                pulled.yield(OneBuffer(buffer))
                return true
            }, onEnd: { pulled.finish() })
        try await pipeline.setState(.playing)
        var refused = 0
        for await one in newest {
            guard let buffer = one.take() else { continue }
            for _ in 0..<20 where buffer.isWritable {
                guard let _ = MappedVideoFrame(buffer, info, .write) else {
                    refused += 1
                    continue
                }
            }
        }
        #expect(refused == 0)
        try await pipeline.setState(.null)
    }

    @Test func flowReturnOfTheHandlerGoesUpstream() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc ! appsink name=a")
        let sink = try #require(pipeline.appSinks["a"])
        sink.configure(depth: 2, isPaced: false)
        defer { sink.forgetHandlers() }
        sink.setHandlers(
            onSample: {
                _ = sink.tryPull()
                return false
            }, onEnd: {})
        // The endless source ends because its sink accepts no more.
        try await pipeline.playToTheEnd()
        #expect(pipeline.hasEnded)
    }

    @Test func handlersAreReleasedWithThePipeline() async throws {
        final class Token: Sendable {}
        weak var held: Token?
        do {
            let token = Token()
            held = token
            let pipeline = try Pipeline(parsing: "videotestsrc num-buffers=1 ! appsink name=a")
            let sink = try #require(pipeline.appSinks["a"])
            sink.setHandlers(
                onSample: { [token] in
                    _ = token; return true
                }, onEnd: {})
            sink.setHandlers(onSample: { true }, onEnd: {})
        }
        #expect(held == nil, "replaced handlers are released immediately")
    }

    @Test func unlinkedBranchIsNotFed() throws {
        let pipeline = try Pipeline(
            parsing: "fakesrc ! queue ! appsink name=a identity ! appsink name=b")
        #expect(try #require(pipeline.appSinks["a"]).isFed)
        #expect(try #require(pipeline.appSinks["b"]).isFed == false)
    }
}

/// A buffer in transit to another thread.
private final class OneBuffer: Sendable {
    private let buffer: Mutex<Buffer?>

    init(_ buffer: consuming sending Buffer) { self.buffer = Mutex(buffer) }

    func take() -> Buffer? { buffer.withLock { $0.take() } }
}
