import MediaBridge
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard)
struct BridgeTests {
    private let capture = "videotestsrc num-buffers=60 ! video/x-raw,format=I420,width=64,height=48"

    @Test func everyFrameIsSeenBeforeItIsWritten() async throws {
        let seen = Atomic<Int>(0)
        let report = try await Bridge.run(capture: capture, outputs: ["fakesink", "fakesink"]) {
            _ in
            seen.add(1, ordering: .relaxed)
        }
        #expect(seen.load(ordering: .relaxed) == 60)
        #expect(report.captures["video"]?.frames == 60)
        #expect(report.outputs.mapValues(\.frames) == ["output": 60, "output-2": 60])
        #expect(report.ended == .eos)
    }

    @Test func errorInAClosureEndsTheBridgeWithTheFileComplete() async throws {
        struct Enough: Error {}
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            let seen = Atomic<Int>(0)
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge.run(
                    capture: capture, outputs: ["x264enc ! mp4mux ! filesink location=\(path)"]
                ) { _ in
                    if seen.add(1, ordering: .relaxed).newValue > 20 { throw Enough() }
                }
            }
            #expect(error?.message.contains("Enough") == true)
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == 20)
        }
    }

    @Test func captureErrorLeavesTheFileComplete() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            let plan = BridgePlan(
                capture: "videotestsrc ! video/x-raw,format=I420,width=64,height=48 "
                    + "! identity error-after=31",
                outputs: ["x264enc ! mp4mux ! filesink location=\(path)"])
            let report = await (try Bridge(plan)).run()
            expectBalanced(report)
            #expect(report.ended == .error)
            #expect(report.failures.first?.element?.contains("identity") == true)
            #expect(report.outputs["output"]?.frames == 30)
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == 30)
        }
    }

    @Test func failedOutputDoesNotAffectOthers() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var plan = BridgePlan(captures: [.init(name: "video", text: capture)])
            plan.outputs = [
                .init(name: "full", text: "filesink location=/dev/full buffer-mode=2"),
                .init(name: "file", text: "x264enc ! matroskamux ! filesink location=\(path)"),
            ]
            let report = await (try Bridge(plan)).run()
            expectBalanced(report)
            #expect(report.failures.map(\.code) == [.noSpaceLeft])
            #expect(report.ended == .error)
            #expect(report.outputs["file"]?.frames == 60)
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == 60)
            let full = try #require(report.outputs["full"])
            #expect(full.frames + full.dropped.total <= 60)
        }
    }

    @Test func stopWritesAllAcceptedFrames() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let bridgeToStop = Mutex<Bridge?>(nil)
            let seen = Atomic<Int>(0)
            struct Stopper: VideoProcessor {
                let see: @Sendable () -> Void
                func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
                    see()
                    return frame
                }
            }
            var plan = BridgePlan(
                capture: "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48",
                outputs: ["x264enc ! matroskamux ! filesink location=\(path)"])
            let stopper: @Sendable () -> Void = {
                if seen.add(1, ordering: .relaxed).newValue == 10 {
                    bridgeToStop.withLock { $0 }?.stop()
                }
            }
            plan.processors = [Stopper(see: stopper)]
            let bridge = try Bridge(plan)
            bridgeToStop.withLock { $0 = bridge }
            let report = await bridge.run()
            expectBalanced(report)
            bridgeToStop.withLock { $0 = nil }
            #expect(report.ended == .interrupt)
            #expect(report.failures.isEmpty)
            let output = try #require(report.outputs["output"])
            let frames = output.frames
            #expect(frames >= 9)
            // A live capture never blocks: a busy machine may drop frames, and the report counts
            // them.
            #expect(report.captures["video"]?.frames == frames + output.dropped.total)
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == frames)
        }
    }

    enum Limit: CaseIterable {
        case frames, duration

        func set(on plan: inout BridgePlan) {
            switch self {
            case .frames: plan.frameLimit = 30
            case .duration: plan.durationLimit = .seconds(1)
            }
        }
        var end: BridgeReport.End { self == .frames ? .frames : .duration }
    }

    @Test(arguments: [
        "x264enc bframes=2", "vp8enc deadline=1", "jpegenc",
        "x264enc ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=nal",
    ])
    func frameLimitCountsEncodedFrames(encoding: String) async throws {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=60 ! "
                + "video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! \(encoding)",
            outputs: ["fakesink"])
        plan.frameLimit = 30
        let report = try await Bridge(plan).run().get()
        expectBalanced(report)
        #expect(report.ended == .frames)
        // A frame may have several buffers.
        let frames = try #require(report.captures["video"]?.frames)
        #expect(encoding.contains("nal") ? (30...60).contains(frames) : frames == 30)
    }

    @Test func frameLimitDoesNotCountContainerPackets() async throws {
        var plan = BridgePlan(
            capture:
                "videotestsrc num-buffers=60 ! video/x-raw,width=64,height=48 ! x264enc ! mpegtsmux",
            outputs: ["fakesink"])
        plan.frameLimit = 30
        let report = try await Bridge(plan).run().get()
        #expect(report.ended == .eos)
    }

    /// A limit cuts off no stream before its time, regardless of which stream arrives later.
    @Test(arguments: Limit.allCases, ["audio", "video", ""])
    func audioEndsWithTheLastFrameOfALimit(limit: Limit, slow: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            func delay(_ stream: String, _ microseconds: Int) -> String {
                slow == stream ? "! identity sleep-time=\(microseconds) " : ""
            }
            var plan = BridgePlan(
                capture: "videotestsrc num-buffers=90 ! video/x-raw,format=I420,framerate=30/1 "
                    + delay("video", 10_000)
                    + "! appsink name=video audiotestsrc num-buffers=300 samplesperbuffer=480 "
                    + "! audio/x-raw,rate=48000 \(delay("audio", 5000))! appsink name=audio",
                outputs: [
                    "appsrc name=video ! x264enc ! matroskamux name=m ! filesink location=\(path) "
                        + "appsrc name=audio ! audioconvert ! flacenc ! m."
                ])
            limit.set(on: &plan)
            let report = try await Bridge(plan).run().get()
            expectBalanced(report)
            #expect(report.ended == limit.end)
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == 30)
            let samples = try await MediaProbe.audioSamples(of: path)
            #expect(samples == 48_000)
        }
    }

    @Test func mismatchedNamesAreReportedBeforeElementsOpen() throws {
        let wrong = BridgePlan(
            capture: capture, outputs: ["appsrc name=sound ! wavenc ! filesink location=/nowhere/a"]
        )
        let error = #expect(throws: PipelineError.self) { try Bridge(wrong) }
        #expect(error?.code == .wrongEnds)
        #expect(error?.message.contains("\"sound\"") == true)
        let twice = BridgePlan(captures: [
            .init(name: "a", text: capture), .init(name: "a", text: capture),
        ])
        #expect(throws: PipelineError.self) { try Bridge(twice) }
    }

    @Test func recordingsWithTheSameNameAreRefused() {
        var plan = BridgePlan(capture: capture, outputs: [])
        plan.recordings = ["/nowhere/a.mkv", "/nowhere/b.mkv"].map {
            BridgePlan.Recording(path: $0)
        }
        let error = #expect(throws: PipelineError.self) { try Bridge(plan) }
        #expect(error?.code == .duplicateName && error?.message.contains("recording") == true)
    }

    @Test func missingStreamIsReportedWithoutWaiting() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.hasAudio = false
            let input = try await clip.make(at: directory.file("silent.mkv"))
            let path = directory.file("out.mkv")
            let plan = BridgePlan(
                capture: "filesrc location=\(input) ! decodebin name=d d. ! videoconvert "
                    + "! appsink name=video d. ! audioconvert ! appsink name=audio",
                outputs: [
                    "appsrc name=video ! x264enc ! matroskamux name=m ! filesink location=\(path) "
                        + "appsrc name=audio ! opusenc ! m."
                ])
            let report = try await Bridge(plan).run()
            #expect(report.failures.first?.message.contains("\"audio\" never appeared") == true)
            #expect(report.captures.mapValues(\.frames) == ["video": clip.frames, "audio": 0])
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == clip.frames)
        }
    }
}
