import Foundation
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// Any pixel format: the file keeps it, or the report states the loss. `COPIED=1000 SEED=7` makes more cases.
@Suite(.hangGuard) struct StoredPictureTests {
    private static let seed =
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
    private static let count =
        ProcessInfo.processInfo.environment["COPIED"].flatMap { Int($0) } ?? 12

    @Test(arguments: StoredPicture.formats)
    func keepsEveryPixelFormatInFFV1OrReportsTheLoss(format: StoredPicture.Format) async throws {
        try await check(StoredPicture(format: format, codec: .ffv1, container: .mkv))
    }

    @Test func everyPixelFormatIsKeptOrReported() async throws {
        var random = SeededGenerator(seed: Self.seed)
        for number in 0..<Self.count {
            try await check(.random(&random), "seed \(Self.seed), case \(number): ")
        }
    }

    @Test(arguments: [
        ("ARGB64", "ARGB64 as GBRA_12LE"), ("Y444_16LE", "Y444_16LE as Y444_12LE"),
        ("AYUV64", "AYUV64 as A444_10LE"), ("P010_10LE", nil), ("RGB8P", nil),
    ])
    func choosesTheNearestFormatOfFFV1(format: String, expected: String?) async throws {
        try await withTemporaryDirectory { directory in
            let picture = StoredPicture(
                format: .init(name: format), codec: .ffv1, container: .mkv)
            let loss = try await picture.record(to: directory.file("out.mkv"))
            #expect(loss == expected)
        }
    }

    /// A filter between the source and the recording passes on the request for 4:2:0, or the source gets no request.
    @Test(arguments: [
        "interlace", "deinterlace", "interlace ! deinterlace", "compositor",
        "imagefreeze num-buffers=3",
        "videorate", "videobox left=-10", "valve ! queue2", "fieldanalysis", "videomixer",
        "textoverlay ! videoconvert ! videoscale", "tee name=t t. ! queue ! fakesink t. ! queue",
    ])
    func requestsCommonFormatsThroughFilters(filter: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var plan = BridgePlan(
                capture:
                    "videotestsrc num-buffers=6 ! video/x-raw,width=64,height=48,framerate=30/1 "
                    + "! \(filter)", outputs: [])
            plan.recordings = [BridgePlan.Recording(path: path)]
            let report = await (try Bridge(plan)).run()
            #expect(report.failures.isEmpty, "\(report.failures)")
            let stored = try await self.format(of: path)
            #expect(stored == "yuv420p")
        }
    }

    @Test func recordsWideColoursOfVP9IntoMP4() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            try await record("colorimetry=bt2020,width=64,height=48", to: path, .vp9)
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == 6)
        }
    }

    @Test(arguments: [
        (VideoCodec.h264, "mp4", "3", "3"), (.vp8, "webm", "240", "3"), (.vp9, "mp4", "15", "16"),
        (.av1, "webm", "1", "1"), (.ffv1, "mkv", "3", "240"),
    ])
    func refusesPicturesThatAreTooSmallWithTheReason(
        codec: VideoCodec, container: String, width: String, height: String
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container)")
            let size = "width=\(width),height=\(height)"
            let error = await #expect(throws: PipelineError.self) {
                try await record(size, to: path, codec)
            }
            #expect(error?.message.contains("too small") == true)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(arguments: [
        (VideoCodec.h264, "mp4", 16), (.vp8, "webm", 16), (.ffv1, "mkv", 4), (.h264, "mkv", 3),
        (.h265, "mkv", 3), (.av1, "mkv", 1),
    ])
    func takesSmallPictures(codec: VideoCodec, container: String, side: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container)")
            try await record("width=\(side),height=\(side)", to: path, codec)
            #expect(try await MediaProbe(of: path).video?.frames == 6)
            let scaled = directory.file("scaled.mp4")
            try await record(
                "width=3,height=3", to: scaled, .h264, size: VideoSize(width: 64, height: 48))
            #expect(try await MediaProbe(of: scaled).video?.width == 64)
        }
    }

    /// - Parameter fields: Further fields of the caps.
    private func record(
        _ fields: String, to path: String, _ codec: VideoCodec, size: VideoSize? = nil
    ) async throws {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(codec)
        configuration.video?.size = size
        var plan = BridgePlan(
            capture:
                "videotestsrc num-buffers=6 ! video/x-raw,format=I420,framerate=30/1,\(fields)",
            outputs: [])
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        if let failure = await (try Bridge(plan)).run().failures.first { throw failure }
    }

    private func format(of path: String) async throws -> String {
        let text = try await Tool.check(
            "ffprobe", ["-v", "error", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0", path])
        return text.split(whereSeparator: { "\n,".contains($0) }).first.map(String.init) ?? ""
    }

    private func check(_ picture: StoredPicture, _ name: String = "") async throws {
        let title = Comment(rawValue: "\(name)\(picture)")
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(picture.container)")
            let loss = try await picture.record(to: path)
            let stored = try await format(of: path)
            #expect(
                picture.isReduced(to: stored) == (loss != nil),
                "\(title): \(stored), \(loss ?? "-")")
            if picture.codec == .ffv1, loss == nil {
                let isExact = try await picture.isExact(in: path)
                #expect(isExact, "\(title): \(stored)")
            }
        }
    }
}
