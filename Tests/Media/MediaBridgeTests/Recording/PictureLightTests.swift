import Foundation
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// The light of HDR10 pictures, as ffmpeg reads it from the header of a file.
@Suite(.hangGuard) struct PictureLightTests {
    private static let caps =
        "video/x-raw,format=I420_10LE,width=64,height=48,framerate=30/1,colorimetry=bt2100-pq,"
        + "mastering-display-info=(string)34000:16000:13250:34500:7500:3000:15635:16450:10000000:1,"
        + "content-light-level=(string)1000:400"

    @Test(arguments: [
        (VideoCodec.h264, "mkv", false), (.vp9, "webm", false), (.h264, "mp4", false),
        (.h264, "mp4", true), (.vp9, "mp4", false),
    ])
    func writesTheLightLevelsOfHDRVideo(
        codec: VideoCodec, container: String, isFragmented: Bool
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container)")
            try await record(Self.caps, to: path, codec, isFragmented: isFragmented)
            let light = try await self.light(of: path)
            #expect(light == [1000, 0.0001, 0.265, 1000, 400])
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == 20)
        }
    }

    @Test func keepsTheLightLevelsInClips() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            try await record(Self.caps, to: path, .h264)
            for container in ["mkv", "mp4"] {
                let clip = directory.file("clip.\(container)")
                _ = try await Recordings(of: [path]).clip(into: clip)
                let light = try await self.light(of: clip)
                #expect(light.first == 1000 && light.suffix(2) == [1000, 400], "\(light)")
            }
        }
    }

    private func record(
        _ caps: String, to path: String, _ codec: VideoCodec, isFragmented: Bool = false
    ) async throws {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(codec)
        configuration.isFragmented = isFragmented
        var plan = BridgePlan(capture: "videotestsrc num-buffers=20 ! \(caps)", outputs: [])
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        if let failure = await (try Bridge(plan)).run().failures.first { throw failure }
    }

    /// The highest and the lowest luminance of the display, the x of its green, and the highest and the highest
    /// average luminance of the content.
    private func light(of path: String) async throws -> [Double] {
        let text = try await Tool.check(
            "ffprobe",
            ["-v", "error", "-select_streams", "v", "-show_entries", "stream_side_data_list", path])
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") {
            let pair = line.split(separator: "=")
            let numbers = pair.last?.split(separator: "/").compactMap { Double($0) } ?? []
            guard pair.count == 2, let first = numbers.first else { continue }
            values[String(pair[0])] = numbers.count == 2 ? first / numbers[1] : first
        }
        return ["max_luminance", "min_luminance", "green_x", "max_content", "max_average"]
            .compactMap { values[$0] }
    }
}
