import GStreamerKit
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// What a file of a recording takes.
@Suite(.hangGuard) struct RecordingFormatTests {
    private func unit(_ caps: String, at seconds: Double) throws -> EncodedUnit {
        guard let buffer = Buffer.copying([UInt8](repeating: 0, count: 100)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        return EncodedUnit(
            .video, buffer, caps: try Caps(caps), time: MediaTime(seconds: seconds),
            isFirst: seconds == 0, isKey: true, arrival: .zero)
    }

    @Test(arguments: RecordingContainer.allCases)
    func aUnitThatTheHeaderDoesNotDescribeNeverReachesTheMuxer(
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
            case .mkv, .mp4: avc
            }
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container.rawValue)")
            let first = try unit(caps + "64", at: 0)
            let claim = try ClaimedFile(path, mustBeNew: true)
            let file = try RecordingFile(
                try #require(claim), index: 0, container: container, streams: [.video: first])
            try file.open()
            #expect(file.holds(first) && file.push(first))
            let second = try unit(caps + "96", at: 0.04)
            #expect(!file.holds(second) && !file.push(second))
            // Another rate is another time, and no other stream.
            let third = try unit(caps + "64, framerate=50/1", at: 0.08)
            #expect(file.holds(third))
            // Bytes of nothing: whatever the muxer makes of them.
            try? await file.finish(stallTimeout: .seconds(5), deadline: .seconds(5))
            #expect(file.written(.video) <= 1)
        }
    }
}
