import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Processors of a bridge with an encoded capture see every frame, and the outputs get raw frames.
@Suite(.hangGuard)
struct ProcessedUnitsTests {
    private static let raw =
        "videotestsrc num-buffers=20 pattern=smpte ! "
        + "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
    private static let encoders = [
        "x264enc bframes=2 b-adapt=false ! h264parse", "x264enc", "x265enc ! h265parse",
        "vp8enc deadline=1", "vp9enc deadline=1", "jpegenc",
    ]

    /// Records the times of frames, and passes the frames on.
    private final class Watcher: VideoProcessor, Sendable {
        let times = Mutex<[MediaTime?]>([])

        func process(_ frame: consuming VideoFrame) -> VideoFrame? {
            times.withLock { $0.append(frame.runningTime) }
            return frame
        }
    }

    private func run(
        _ plan: BridgePlan
    ) async throws -> (report: BridgeReport, warnings: [String]) {
        let warnings = Mutex<[String]>([])
        let bridge = try Bridge(plan)
        bridge.onEvent { event in
            if case .warned(let error) = event { warnings.withLock { $0.append(error.message) } }
        }
        let report = await bridge.run()
        expectBalanced(report)
        return (report, warnings.withLock { $0 })
    }

    @Test(arguments: encoders)
    func everyFrameIsProcessedInOrderAndRecordedOnce(encoder: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let watcher = Watcher()
            var plan = BridgePlan(capture: "\(Self.raw) ! \(encoder)", outputs: ["fakesink"])
            plan.recordings = [.init(path: path)]
            plan.processors = [watcher, VideoFilter.mirror]
            let (report, warnings) = try await run(plan)
            #expect(report.failures.isEmpty)
            #expect(report.captures["video"]?.frames == 20)
            #expect(report.outputs.mapValues(\.frames) == ["output": 20, "recording": 20])
            let times = watcher.times.withLock { $0.compactMap(\.self) }
            #expect(times.count == 20)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            #expect(warnings.contains { $0.contains("is decoded for filters and program code") })
            let video = try await MediaProbe(of: path).video
            #expect(video?.frames == 20)
            // The left bar is the former right bar: blue.
            let pixels = path + ".rgb"
            try await Tool.check(
                "ffmpeg",
                ["-v", "error", "-i", path, "-pix_fmt", "rgb24", "-f", "rawvideo", pixels])
            let left = try Data(contentsOf: URL(filePath: pixels)).dropFirst(3 * (64 * 10 + 3))
                .prefix(3)
            #expect(
                left[left.startIndex + 2] > 150 && left[left.startIndex] < 60, "\([UInt8](left))")
        }
    }

    @Test(arguments: ["matroskademux", "matroskademux ! h264parse", "parsebin"])
    func fileIsDecodedBehindAnyDemuxer(reader: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            try await Bridge.run(
                capture: "\(Self.raw) ! x264enc ! h264parse",
                outputs: ["matroskamux ! filesink location=\(path)"])
            let seen = Atomic<Int>(0)
            let report = try await Bridge.run(
                capture: "filesrc location=\(path) ! \(reader)",
                outputs: ["videoconvert ! video/x-raw,format=RGB ! fakesink"]
            ) { _ in
                seen.add(1, ordering: .relaxed)
            }
            #expect(seen.load(ordering: .relaxed) == 20)
            #expect(report.outputs["output"]?.frames == 20)
        }
    }

    @Test func frameLimitCountsDecodedFrames() async throws {
        var plan = BridgePlan(capture: "\(Self.raw) ! x264enc ! h264parse")
        let watcher = Watcher()
        plan.processors = [watcher]
        plan.frameLimit = 7
        let report = try await run(plan).report
        #expect(report.ended == .frames)
        #expect(report.captures["video"]?.frames == 7)
        #expect(watcher.times.withLock(\.count) == 7)
    }

    @Test func undecodableStreamIsAnError() async throws {
        var plan = BridgePlan(capture: "\(Self.raw) ! videoconvert ! pngenc", outputs: ["fakesink"])
        plan.processors = [Watcher()]
        let report = try await run(plan).report
        let failure = try #require(report.failures.first)
        #expect(failure.message.contains("no decoder is known for image/png"))
        #expect(failure.advice == "put decodebin at the end of the capture")
    }

    @Test func rawVideoAndAudioBesideItPassUnchanged() async throws {
        let watcher = Watcher()
        var plan = BridgePlan(
            capture: "\(Self.raw) ! x264enc ! appsink name=video "
                + "audiotestsrc num-buffers=10 ! opusenc ! appsink name=audio",
            outputs: ["appsrc name=video ! fakesink  appsrc name=audio ! opusparse ! fakesink"])
        plan.processors = [watcher]
        let (report, _) = try await run(plan)
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(watcher.times.withLock(\.count) == 20)
        #expect(report.captures["video"]?.frames == 20)
        #expect(report.captures["audio"]?.frames ?? 0 > 0)
    }
}
