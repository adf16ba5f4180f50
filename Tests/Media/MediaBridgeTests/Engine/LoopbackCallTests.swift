import Foundation
import MediaBridge
import MediaBridgeAgora
import MediaBridgeTesting
import TestSupport
import Testing

/// Two engines in one process, and the video that each shows of the other.
@Suite(.hangGuard)
struct LoopbackCallTests {
    @Test func eachEngineRecordsTheOtherFrameForFrameAndInTime() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.hasAudio = false
            (clip.frames, clip.width, clip.height) = (20, 64, 48)
            let film = try await clip.make(at: directory.file("clip.mkv"))
            let decoded = directory.file("decoded.yuv")
            let decode =
                "filesrc location=\(film) ! matroskademux ! h264parse ! avdec_h264 ! videoconvert"
            try await Tool.check(
                "gst-launch-1.0",
                ["-q"]
                    + "\(decode) ! video/x-raw,format=I420 ! filesink location=\(decoded)"
                    .split(separator: " ").map(String.init))
            // No frame waits for the clock, and none is dropped in favour of another.
            var offline = MediaEngine.Configuration()
            offline.isRealTime = false
            let network = LoopbackNetwork(depth: 100)
            let engines = (0..<2).map { _ in
                MediaEngine(configuration: offline, transport: network)
            }
            let files = ["a.yuv", "b.yuv"].map { directory.file($0) }
            for (index, engine) in engines.enumerated() {
                try await engine.setVideoSource(PipelineVideoSource(decode))
                var configuration = PipelineVideoSink.Configuration()
                configuration.whenFull = .wait
                var options = SinkOptions()
                options.depth = 20
                try await engine.setRemoteVideoRenderer(
                    PipelineVideoSink(
                        "video/x-raw,format=I420 ! filesink location=\(files[index])",
                        configuration: configuration),
                    forUserID: UserID(UInt(1 - index)), options: options)
            }
            // Both engines are present before either sends.
            let waiting = engines.map(\.events)
            try await engines[0].joinChannel("room", userID: 0, role: .audience)
            try await engines[1].joinChannel("room", userID: 1, role: .audience)
            try await engines[0].setClientRole(.broadcaster)
            try await engines[1].setClientRole(.broadcaster)
            for events in waiting {
                for await event in events { if case .sourceEnded = event { break } }
            }
            for engine in engines { try await engine.setClientRole(.audience) }
            // This event follows the last frame.
            for events in waiting {
                for await event in events { if case .unpublished(.video, _) = event { break } }
            }
            let statistics = await engines[0].statistics
            #expect(statistics.sent == 20)
            for engine in engines { try await engine.leaveChannel() }
            let expected = try Data(contentsOf: URL(filePath: decoded))
            for file in files {
                #expect(try Data(contentsOf: URL(filePath: file)) == expected)
            }
        }
    }
}
