import GStreamerKit
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// The formats that a file of a recording accepts.
@Suite(.hangGuard) struct RecordingFormatTests {
    private func unit(_ caps: String, at seconds: Double) throws -> EncodedUnit {
        guard let buffer = Buffer.copying([UInt8](repeating: 0, count: 100)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        return EncodedUnit(
            .video, buffer, caps: try Caps(caps), time: MediaTime(seconds: seconds),
            isFirst: seconds == 0, isKey: true, arrival: .zero)
    }

    @Test(arguments: RecordingContainer.allCases.filter { !$0.videoCodecs.isEmpty })
    func unitThatDoesNotMatchTheHeaderNeverReachesTheMuxer(
        container: RecordingContainer
    ) async throws {
        let vp8 = "video/x-vp8, height=48, width="
        let h264 = "video/x-h264, stream-format=byte-stream, alignment=au, height=48, width="
        let avc =
            "video/x-h264, stream-format=avc, alignment=au, height=48, "
            + "codec_data=(buffer)0142c00affe1000a6742c00ada08484d4043ffffe1000468ce3c80, width="
        let caps =
            switch container {
            case .webm: vp8
            case .ts: h264
            case .mkv, .mp4, .mov, .ogg, .flac, .wav: avc
            }
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container.rawValue)")
            let first = try unit(caps + "64", at: 0)
            let claim = try ClaimedFile(path, mustBeNew: true)
            let file = try RecordingFile(
                try #require(claim), index: 0, container: container, first: [.video: first],
                timeline: RecordingTimeline(leader: .video, wallClock: WallClock()))
            try file.open()
            #expect(file.holds(first) && file.push(first))
            let second = try unit(caps + "96", at: 0.04)
            #expect(!file.holds(second) && !file.push(second))
            // A different frame rate changes only the timing, and is not a different stream.
            let third = try unit(caps + "64, framerate=50/1", at: 0.08)
            #expect(file.holds(third))
            // The payload is invalid, so any result of the muxer is acceptable.
            try? await file.finish(stallTimeout: .seconds(5), deadline: .seconds(5))
            #expect(file.written(.video) <= 1)
        }
    }

    /// 4:2:0 needs an even width and height.
    @Test(arguments: [
        (1, 1, 2, 2), (1, 48, 2, 48), (64, 1, 64, 2), (3, 5, 2, 4), (1, 7, 2, 6), (64, 48, 64, 48),
    ])
    func framesOfAnySizeAreEncoded(
        width: Int, height: Int, storedWidth: Int, storedHeight: Int
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(path)
            try recorder.start()
            let frames = RecordedFrames(width: width, height: height)
            for index in 0..<5 { try await recorder.write(frames.picture(index)) }
            try await recorder.stop()
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.width == storedWidth && probe.video?.height == storedHeight)
            #expect(probe.video?.frames == 5)
        }
    }

    @Test func untimedImagesAreAnErrorWithWorkingAdvice() async throws {
        try await withTemporaryDirectory { directory in
            try await Tool.check(
                "gst-launch-1.0",
                [
                    "-q", "videotestsrc", "num-buffers=4", "!", "video/x-raw,width=64,height=48",
                    "!",
                    "jpegenc", "!", "multifilesink", "location=\(directory.file("%d.jpg"))",
                ])
            let capture =
                "multifilesrc location=\(directory.file("%d.jpg")) caps=image/jpeg,framerate=30/1"
            func record(_ capture: String) async throws -> BridgeReport {
                var plan = BridgePlan(capture: capture, outputs: [])
                plan.recordings = [BridgePlan.Recording(path: directory.file("out.mkv"))]
                return await (try Bridge(plan)).run()
            }
            let failure = try #require(try await record(capture).failures.first)
            #expect(failure.advice?.contains("jpegdec") == true, "\(failure)")
            let report = try await record("\(capture) ! jpegdec")
            #expect(report.failures.isEmpty)
            #expect(report.outputs["recording"]?.frames == 4)
        }
    }

    @Test(arguments: [
        ("I420", "yuv420p", nil), ("GRAY8", "yuv420p", nil), ("YUY2", "yuv420p", "YUY2 as I420"),
        ("BGRA", "yuv420p", "BGRA as I420"), ("A420", "yuv420p", "A420 as I420"),
        ("I420_10LE", "yuv420p10le", nil), ("P010_10LE", "yuv420p10le", nil),
        ("I422_10LE", "yuv422p10le", nil), ("v210", "yuv422p10le", nil),
        ("Y444_12LE", "yuv444p10le", "Y444_12LE as Y444_10LE"),
        ("GRAY16_LE", "yuv420p10le", "GRAY16_LE as I420_10LE"),
    ])
    func highBitDepthIsKeptOrItsLossIsReported(
        format: String, stored: String, converted: String?
    ) async throws {
        try await withTemporaryDirectory { directory in
            for container in ["mkv", "webm"] {
                let path = directory.file("out.\(container)")
                var configuration = Recorder.Configuration()
                configuration.video = VideoEncoding(container == "mkv" ? .h264 : .vp9)
                var plan = BridgePlan(
                    capture: "videotestsrc num-buffers=5 "
                        + "! video/x-raw,format=\(format),width=64,height=48", outputs: [])
                plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
                let bridge = try Bridge(plan)
                let report = await bridge.run()
                #expect(report.failures.isEmpty, "\(report.failures)")
                let found = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0", path,
                    ])
                #expect(found.split(separator: "\n").first.map(String.init) == stored)
                #expect(bridge.recorders.first?.report.video?.converted == converted)
            }
        }
    }
}
