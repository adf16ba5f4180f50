import CMediaBridge
import GStreamerKit
import MediaBridge
import MediaBridgeElements
import Synchronization
import TestSupport
import Testing

/// Keeps the bytes and timestamps of its frames.
private final class Kept: VideoSink, MediaElement {
    struct Frame: Equatable {
        var format: VideoPixelFormat
        var size: VideoSize
        var time: MediaTime?
        var bytes: [UInt8]
    }
    static let caps = "video/x-raw, format={ GRAY8, GRAY16_LE }"
    static let all = Mutex<[String: [Frame]]>([:])
    let collection = MediaProperty("Where the frames are kept", default: "")

    func render(_ frame: VideoFrame) throws {
        let bytes = try frame.withPlanes { planes in
            (0..<planes[0].rows).flatMap { y in planes[0].row(y).withUnsafeBytes { Array($0) } }
        }
        let kept = Frame(
            format: frame.format.pixelFormat, size: frame.size, time: frame.runningTime,
            bytes: bytes)
        Self.all.withLock { $0[collection.value, default: []].append(kept) }
    }
}

/// Passes frames on, and keeps them.
private final class Hoard: VideoProcessor, MediaElement, Sendable {
    static let caps = "video/x-raw, format=GRAY8"
    static let frames = Mutex<[VideoFrame]>([])

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let kept = frame
        Self.frames.withLock { $0.append(kept) }
        return kept
    }
}

/// Events during a stream: flushes, new segments and format changes.
@Suite(.hangGuard) struct FlowTests {
    init() throws {
        try ElementPlugin("frames", elements: [Negative.self, Kept.self, Hoard.self]).register()
    }

    private func kept(_ name: String) -> [Kept.Frame] { Kept.all.withLock { $0[name] ?? [] } }

    /// Runs a pipeline whose frames reach one sink filtered and another one unchanged.
    ///
    /// - Parameter body: Called while the pipeline is paused, and its queues fill.
    private func run(
        _ source: String, _ name: String, _ body: (Pipeline) async throws -> Void
    ) async throws -> (filtered: [Kept.Frame], plain: [Kept.Frame]) {
        let pipeline = try Pipeline(
            parsing: "\(source) ! tee name=t "
                + "t. ! queue ! negative ! kept name=filtered sync=false collection=\(name)-filtered "
                + "t. ! queue ! kept sync=false collection=\(name)-plain")
        let messages = pipeline.messages
        try await pipeline.setState(.paused)
        try await body(pipeline)
        try await pipeline.setState(.playing)
        try await untilEnd(messages)
        try await pipeline.setState(.null)
        return (kept("\(name)-filtered"), kept("\(name)-plain"))
    }

    private func untilEnd(_ messages: AsyncStream<BusMessage>) async throws {
        for await message in messages {
            switch message {
            case .error(let error): throw error
            case .endOfStream: return
            default: continue
            }
        }
    }

    private func inverted(_ frames: [Kept.Frame]) -> [Kept.Frame] {
        frames.map { frame in
            var frame = frame
            frame.bytes = frame.bytes.map { ~$0 }
            return frame
        }
    }

    @Test func seekDeliversTheFramesOfTheNewSegment() async throws {
        let (filtered, plain) = try await run(
            "videotestsrc num-buffers=2000 pattern=ball ! "
                + "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1", "seek"
        ) { pipeline in
            for second in [9, 2, 5] {
                #expect(
                    await pipeline.seek(
                        toKeyFrameAt: ClockTime(nanoseconds: UInt64(second) * 1_000_000_000)))
            }
        }
        // Each seek begins at time zero again.
        func last(_ frames: [Kept.Frame]) -> [Kept.Frame] {
            Array(frames[(frames.lastIndex { $0.time == .zero } ?? 0)...])
        }
        let (new, expected) = (last(filtered), inverted(last(plain)))
        #expect(new.count > 100)
        #expect(new == expected)
    }

    /// A sink that is late asks for it with a QoS event.
    @Test func filterSkipsLateFrames() async throws {
        let late = ClockTime(nanoseconds: 1_000_000_000)
        let (filtered, plain) = try await run(
            "videotestsrc num-buffers=50 ! "
                + "video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1", "late"
        ) { pipeline in
            let sink = try #require(pipeline.element(named: "filtered"))
            let event = gst_event_new_qos(
                GST_QOS_TYPE_UNDERFLOW, 2, 0, GstClockTime(late.nanoseconds))
            #expect(gst_element_send_event(sink.pointer, event) != 0)
        }
        #expect(plain.count == 50)
        func isDue(_ frame: Kept.Frame) -> Bool { (frame.time ?? .zero) > MediaTime(late) }
        #expect(filtered.filter(isDue) == inverted(plain.filter(isDue)))
        // The sink may have had the first one already.
        #expect(filtered.count { !isDue($0) } <= 1)
    }

    @Test func framesKeptByAFilterAreNotOverwritten() async throws {
        let (filtered, plain) = try await run(
            "videotestsrc num-buffers=200 ! video/x-raw,format=GRAY8,width=16,height=16 ! hoard",
            "hoard"
        ) { _ in }
        #expect(filtered == inverted(plain))
        let kept = Hoard.frames.withLock { $0 }
        #expect(try kept.map { try Pixels.bytes($0) } == plain.map(\.bytes))
    }

    @Test func aFormatMayChangeWithAnyFrame() async throws {
        let formats = [
            ("GRAY8", 64, 48), ("GRAY16_LE", 33, 17), ("GRAY8", 64, 48), ("GRAY8", 2, 2),
        ]
        let (filtered, plain) = try await run(
            "concat name=c "
                + formats.map {
                    "videotestsrc num-buffers=3 ! "
                        + "video/x-raw,format=\($0.0),width=\($0.1),height=\($0.2) ! c. "
                }.joined() + "c.", "formats"
        ) { _ in }
        #expect(filtered.map(\.size.width) == formats.flatMap { [$0.1, $0.1, $0.1] })
        #expect(filtered == inverted(plain))
    }

    @Test func elementCanBeRestartedRepeatedly() async throws {
        let pipeline = try Pipeline(
            parsing: "videotestsrc num-buffers=5 ! video/x-raw,format=GRAY8,width=8,height=8 ! "
                + "negative ! kept sync=false collection=states")
        for round in 1...3 {
            let messages = pipeline.messages
            try await pipeline.setState(.playing)
            try await untilEnd(messages)
            try await pipeline.setState(round == 2 ? .ready : .null)
            #expect(kept("states").count == round * 5)
        }
        try await pipeline.setState(.null)
    }
}
