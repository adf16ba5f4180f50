import Foundation
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// The loss of quality in recorded frames.
@Suite(.hangGuard) struct VideoQualityTests {
    private func record(
        _ codec: VideoCodec?, _ quality: VideoQuality?, _ directory: TemporaryDirectory
    ) async throws -> (path: String, bytes: Int, codec: String) {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(codec)
        configuration.video?.quality = quality
        let name = "\(codec?.rawValue ?? "any")-\(quality?.rawValue ?? "usual").mkv"
        var plan = BridgePlan(
            capture: "filesrc location=\(directory.file("source.mkv")) ! matroskademux ! "
                + "avdec_ffv1 ! appsink name=video",
            outputs: [])
        let path = directory.file(name)
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        let bridge = try Bridge(plan)
        try await bridge.run().get()
        let report = bridge.recorders[0].report
        return (path, report.files[0].bytes, report.video?.codec ?? "")
    }

    /// Moving noise and a pattern, losslessly.
    private func makeSource(_ directory: TemporaryDirectory) async throws {
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i",
                "testsrc2=size=320x240:rate=25:duration=1,noise=alls=12:allf=t", "-pix_fmt",
                "yuv420p", "-c:v", "ffv1", directory.file("source.mkv"),
            ])
    }

    /// How alike two films are; 1: equal.
    private func likeness(_ path: String, _ directory: TemporaryDirectory) async throws -> Double {
        let text = try await Tool.run(
            "ffmpeg",
            [
                "-hide_banner", "-i", path, "-i", directory.file("source.mkv"), "-lavfi", "ssim",
                "-f", "null", "-",
            ]
        ).errors
        let value = text.components(separatedBy: "All:").last?.prefix { "0123456789.".contains($0) }
        return try #require(Double(value ?? ""))
    }

    @Test(arguments: [VideoCodec.h264, .h265, .vp8, .vp9, .av1, .mjpeg])
    func aHigherQualityLosesLess(codec: VideoCodec) async throws {
        try await withTemporaryDirectory { directory in
            try await makeSource(directory)
            var (bytes, likenesses) = ([Int](), [Double]())
            for quality in [VideoQuality.low, .medium, .high] {
                let (path, size, _) = try await record(codec, quality, directory)
                bytes.append(size)
                likenesses.append(try await likeness(path, directory))
            }
            #expect(bytes == bytes.sorted() && Set(bytes).count == 3, "\(bytes)")
            #expect(likenesses == likenesses.sorted(), "\(likenesses)")
        }
    }

    @Test(arguments: [nil, VideoCodec.h264, .h265, .vp9, .ffv1])
    func losslessKeepsEverySample(codec: VideoCodec?) async throws {
        try await withTemporaryDirectory { directory in
            try await makeSource(directory)
            let (path, _, _) = try await record(codec, .lossless, directory)
            let source = try await MediaProbe.pictures(of: directory.file("source.mkv"))
            #expect(try await MediaProbe.pictures(of: path) == source)
        }
    }

    @Test func lossyCodecRefusesLosslessQuality() async throws {
        try await withTemporaryDirectory { directory in
            for codec in [VideoCodec.vp8, .av1, .mjpeg] {
                var configuration = Recorder.Configuration()
                configuration.video = VideoEncoding(codec)
                configuration.video?.quality = .lossless
                let error = #expect(throws: PipelineError.self) {
                    try Recorder(directory.file("out.mkv"), configuration: configuration)
                }
                #expect(error?.message.contains("is lossless") == true, "\(error as Any)")
                #expect(error?.description.contains("avenc_ffv1 (ffv1)") == true)
            }
        }
    }

    @Test func bitRateAndQualityAreMutuallyExclusive() throws {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(.h264, bitRate: 100_000)
        configuration.video?.quality = .low
        #expect(throws: PipelineError.self) {
            try Recorder("/tmp/unused.mkv", configuration: configuration)
        }
    }

    /// Read from the bitstream by ffprobe.
    @Test(arguments: [VideoCodec.h264, .h265, .vp8, .vp9, .av1])
    func keyframeIntervalAndFrameOrderAreApplied(codec: VideoCodec) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.video = VideoEncoding(codec, bitRate: 400_000)
            configuration.video?.keyFrameInterval = .milliseconds(400)
            var plan = BridgePlan(
                capture: "videotestsrc num-buffers=75 pattern=smpte75 ! "
                    + "video/x-raw,format=I420,width=320,height=240,framerate=25/1",
                outputs: [])
            let path = directory.file("out.mkv")
            plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
            try await Bridge(plan).run().get()
            let keys = try await MediaProbe.keyPackets(of: path)
            #expect(keys.count == 75)
            #expect(keys.indices.filter { keys[$0] } == Array(stride(from: 0, to: 75, by: 10)))
            let types = try await Tool.check(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pict_type",
                    "-of", "default=nw=1:nk=1", path,
                ])
            #expect(!types.contains("B"), "\(types)")
        }
    }
}
