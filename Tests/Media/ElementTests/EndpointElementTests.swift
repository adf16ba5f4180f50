import Dispatch
import MediaBridge
import MediaBridgeElements
import Synchronization
import TestSupport
import Testing

/// Delivers six frames, as fast as the pipeline accepts them.
private final class Numbers: VideoSource, MediaElement {
    static let caps = "video/x-raw, format=GRAY8"
    enum End: String, CaseIterable, Sendable { case ends, fails, refuses, throwsAtStart, hasNoTime }
    let end = MediaProperty("How it ends", default: End.ends)
    let first = MediaProperty("The time of the first frame, in milliseconds", default: 0)
    var consumer: (any VideoFrameConsumer)?
    private let queue = DispatchQueue(label: "numbers")

    struct Failure: Error, CustomStringConvertible { let description = "the numbers are exhausted" }

    init() {}

    func needsPacing() -> Bool { true }
    func shouldInitialize() -> Bool { end.value != .refuses }

    func shouldStart() throws {
        if end.value == .throwsAtStart { throw Failure() }
        guard let consumer else { return }
        queue.async { [end = end.value, first = first.value] in
            for number in 0..<6 {
                guard
                    var frame = try? VideoFrame(
                        VideoFormat(.gray8, width: 64, height: 48),
                        runningTime: end == .hasNoTime
                            ? nil : MediaTime(value: Int64(first + number * 40), timescale: 1000))
                else { return }
                try? frame.withMutablePlanes { $0[0].fill(UInt8(number)) }
                guard consumer.consume(frame).isAccepted else { return }
            }
            if end == .fails {
                consumer.sourceDidFail(Failure())
            } else {
                consumer.sourceDidEnd()
            }
        }
    }

    func shouldStop() {}
}

/// A live source of silence.
private final class Silence: AudioSource, MediaElement {
    static let caps = "audio/x-raw, format=S16LE, rate=48000, channels=2, layout=interleaved"
    var consumer: (any AudioFrameConsumer)?
    private var task: Task<Void, Never>?

    init() {}

    func shouldStart() {
        guard let consumer else { return }
        task = Task {
            let format = AudioFormat(.s16le, sampleRate: 48_000, channels: 2)
            for number in 0... {
                guard (try? await Task.sleep(for: .milliseconds(10))) != nil,
                    let frame = try? AudioFrame(
                        silence: format, sampleCount: 480,
                        runningTime: MediaTime(value: Int64(number), timescale: 100))
                else { return }
                consumer.consume(frame)
            }
        }
    }

    func shouldStop() {
        task?.cancel()
        task = nil
    }
}

/// Keeps the frames that it receives.
private final class Collector: VideoSink, MediaElement {
    static let caps = "video/x-raw, format={ GRAY8, I420 }"
    static let collected = Mutex<[String: [VideoFrame]]>([:])
    let collection = MediaProperty("Where the frames are kept", default: "")
    let limit = MediaProperty("The number of frames after which it fails", default: 1000)
    private var count = 0

    struct Failure: Error, CustomStringConvertible { let description = "the collection is full" }

    init() {}

    func pixelFormat() -> VideoPixelFormat { .gray8 }

    func render(_ frame: VideoFrame) throws {
        count += 1
        if count > limit.value { throw Failure() }
        Self.collected.withLock { $0[collection.value, default: []].append(frame) }
    }
}

/// Sources and sinks of Swift as elements of this process.
@Suite(.hangGuard)
struct EndpointElementTests {
    init() throws {
        try ElementPlugin("endpoints", elements: [Numbers.self, Silence.self, Collector.self])
            .register()
    }

    private func frames(_ elements: String) async throws -> [VideoFrame] {
        var frames: [VideoFrame] = []
        for try await frame in try PipelineVideoSource("\(elements) ! appsink").frames() {
            frames.append(frame)
        }
        return frames
    }

    private func milliseconds(_ frames: [VideoFrame]) -> [Int64?] {
        frames.map { $0.runningTime.map { $0.nanoseconds / 1_000_000 } }
    }

    private func firstPixels(_ frames: [VideoFrame]) throws -> [UInt8] {
        try frames.map {
            try $0.withPlanes { $0[0].row(0)[0] }
        }
    }

    @Test(arguments: [0, 5000])
    func sourceDeliversEachFrameOnceFromTimeZero(first: Int) async throws {
        let frames = try await frames("numbers first=\(first)")
        #expect(milliseconds(frames) == [0, 40, 80, 120, 160, 200])
        #expect(try firstPixels(frames) == [0, 1, 2, 3, 4, 5])
    }

    @Test func aSourceWaitsForASlowPipeline() async throws {
        let frames = try await frames("numbers ! identity sleep-time=20000")
        #expect(try firstPixels(frames) == [0, 1, 2, 3, 4, 5])
    }

    @Test(arguments: [
        ("fails", "the numbers are exhausted"), ("refuses", "shouldInitialize() returned false"),
        ("throwsAtStart", "the numbers are exhausted"), ("hasNoTime", "set runningTime"),
    ])
    func sourceErrorBecomesThePipelineError(end: String, text: String) async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await frames("numbers end=\(end)")
        }
        #expect(error?.description.contains(text) == true, "\(error as Any)")
    }

    @Test func formatRefusedDownstreamIsAnError() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await frames("numbers ! video/x-raw,width=100")
        }
        #expect(error?.description.contains("videoconvert") == true, "\(error as Any)")
    }

    @Test func sourceEndsAtItsBufferLimit() async throws {
        #expect(try await frames("numbers num-buffers=2").count == 2)
    }

    @Test func liveSourceAudioIsContinuous() async throws {
        var end: MediaTime?
        var count = 0
        for try await frame in try PipelineAudioSource("silence num-buffers=20 ! appsink").frames()
        {
            let time = try #require(frame.runningTime)
            if let end { #expect(time >= end) }
            end = time + frame.duration
            count += 1
            #expect(frame.liveTiming != nil)
        }
        #expect(count == 20)
    }

    @Test(arguments: ["", "videoconvert ! "])
    func aSinkGetsEachFrameOnceInItsFormat(converter: String) async throws {
        let name = "each-\(converter.count)"
        let format = converter.isEmpty ? "GRAY8" : "I420"
        let report = try await Bridge(
            BridgePlan(
                capture: "videotestsrc num-buffers=6 ! video/x-raw,format=\(format),framerate=25/1",
                outputs: ["\(converter)collector name=\(name) collection=\(name)"])
        ).run()
        let frames = Collector.collected.withLock { $0[name] ?? [] }
        #expect(milliseconds(frames) == [0, 40, 80, 120, 160, 200])
        #expect(frames.allSatisfy { $0.format.pixelFormat == .gray8 })
        #expect(report.outputs["output"]?.frames == 6)
    }

    @Test func sinkErrorBecomesThePipelineError() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await Bridge(
                BridgePlan(
                    capture: "videotestsrc num-buffers=60 ! video/x-raw,format=GRAY8",
                    outputs: ["collector limit=3"])
            ).run().get()
        }
        #expect("\(error as Any)".contains("the collection is full"), "\(error as Any)")
    }
}
