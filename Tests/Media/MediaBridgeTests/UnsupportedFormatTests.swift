import TestSupport
import Testing

@testable import GStreamerKit
@testable import MediaBridge

/// An output that cannot accept its input ends and states the reason.
@Suite(.hangGuard) struct UnsupportedFormatTests {
    /// Twenty seconds of live frames: an output that ends at once does not receive all of them.
    private static func pictures(isLive: Bool) -> String {
        "videotestsrc is-live=\(isLive) num-buffers=600 ! "
            + "video/x-raw,format=I420,width=16,height=16,framerate=30/1"
    }

    @Test(arguments: [true, false])
    func unsupportedFirstFormatEndsTheRun(isLive: Bool) async throws {
        let report = try await Bridge(
            BridgePlan(capture: Self.pictures(isLive: isLive), outputs: ["h264parse ! fakesink"])
        ).run()
        #expect(report.ended == .error)
        let failure = try #require(report.failures.first)
        #expect(failure.element?.contains("h264parse") == true, "\(failure)")
        #expect(failure.message.contains("video/x-raw"), "\(failure)")
        #expect(report.outputs["output"]?.frames == 0)
        #expect(report.outputs["output"]?.dropped.total ?? 0 < 600)
    }

    @Test(arguments: [true, false])
    func otherOutputsContinueAfterAnUnsupportedFormat(isLive: Bool) async throws {
        var plan = BridgePlan(
            capture: Self.pictures(isLive: isLive), outputs: ["h264parse ! fakesink", "fakesink"])
        plan.frameLimit = 20
        let report = try await Bridge(plan).run()
        #expect(report.failures.count == 1)
        let good = try #require(report.outputs["output-2"])
        #expect(good.frames + good.dropped.total == 20)
        #expect(report.outputs["output"]?.frames == 0)
    }

    /// `avimux` counts frames, so it accepts no frame rate other than its first.
    private static func rates(_ counts: (rate: Int, frames: Int?)...) -> String {
        "concat name=c ! video/x-raw,format=I420,width=16,height=16 ! appsink "
            + counts.map { rate, frames in
                "videotestsrc \(frames.map { "num-buffers=\($0)" } ?? "") ! "
                    + "video/x-raw,format=I420,width=16,height=16,framerate=\(rate)/1 ! c."
            }.joined(separator: " ")
    }
    private static let counter = "jpegenc ! avimux ! fakesink"

    @Test func singleFrameInAnotherFormatIsDroppedAndCounted() async throws {
        let report = try await Bridge(
            BridgePlan(
                capture: Self.rates((30, 20), (25, 1), (30, 20)), outputs: [Self.counter])
        ).run()
        let output = try #require(report.outputs["output"])
        #expect(output.frames == 40)
        #expect(output.dropped[.badFormat] == 1)
        #expect(report.failures.count == 1)
        #expect(report.captures["video"]?.frames == 40)
    }

    @Test func permanentFormatChangeEndsTheOutputWithinASecond() async throws {
        let report = try await Bridge(
            BridgePlan(capture: Self.rates((30, 20), (25, nil)), outputs: [Self.counter])
        ).run()
        let output = try #require(report.outputs["output"])
        #expect(report.ended == .error)
        #expect(output.frames == 20)
        // The first refused frame, and the frames of the second that follows it.
        #expect(output.dropped[.badFormat] == 26)
    }

    @Test(arguments: ["x264enc ! fakesink", "videoconvert ! x264enc ! fakesink"])
    func deviceMemoryFramesAreRefusedWithTheDownloadElement(text: String)
        async throws
    {
        let output = try Output(text, configuration: PipelineVideoSink.Configuration())
        output.prepare()
        try await output.pipeline.setState(.playing)
        let branch = try #require(output.branches.values.first)
        let caps = try Caps(
            "video/x-raw(memory:GLMemory), format=RGBA, width=16, height=16, framerate=30/1")
        guard let picture = Buffer.allocate(byteCount: 16 * 16 * 4) else {
            Issue.record("no memory")
            return
        }
        let disposition = branch.push(
            picture, caps: caps, time: .zero, duration: nil, live: nil)
        #expect(disposition == .dropped(.badFormat))
        let reason = try #require(branch.refusedFormats.reason)
        #expect(reason.message.contains("memory:GLMemory"), "\(reason)")
        #expect(reason.advice?.contains("gldownload") == true, "\(reason)")
        try await output.pipeline.setState(.null)
        // The next run starts without a refusal.
        output.prepare()
        #expect(branch.refusedFormats.reason == nil)
        output.close()
    }

    @Test func outputForDeviceMemoryNamesTheUploadElement() async throws {
        let report = try await Bridge(
            BridgePlan(
                capture: "videotestsrc num-buffers=3",
                outputs: ["video/x-raw(memory:VAMemory) ! fakesink"])
        ).run()
        #expect(report.ended == .error)
        let failure = try #require(report.failures.first)
        #expect(failure.advice?.contains("vapostproc") == true, "\(failure)")
    }
}
