import Foundation
import TestSupport
import Testing

@testable import GStreamerKit
@testable import MediaBridge

/// Films that are stored rotated, with metadata that states so.
@Suite(.hangGuard) struct OrientationTests {
    private static let tiny = "video/x-raw,format=GRAY8,width=16,height=8,framerate=25/1"

    private func rotations(_ text: String) async throws -> [VideoRotation] {
        var rotations: [VideoRotation] = []
        for try await frame in try PipelineVideoSource(text).frames() {
            rotations.append(frame.rotation)
        }
        return rotations
    }

    @Test(
        arguments: [
            ("rotate-0", .upright), ("rotate-90", .rotation90), ("rotate-180", .rotation180),
            ("rotate-270", .rotation270), ("flip-rotate-90", .rotation90),
        ] as [(String, VideoRotation)])
    func tagSetsTheRotationOfEveryFrame(tag: String, rotation: VideoRotation) async throws {
        let all = try await rotations(
            "videotestsrc num-buffers=5 ! \(Self.tiny) ! taginject tags=image-orientation=\(tag)")
        #expect(all == [VideoRotation](repeating: rotation, count: 5))
    }

    @Test func engineReceivesTheRotation() async throws {
        let receiver = Receiver()
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=5 ! \(Self.tiny) ! taginject tags=image-orientation=rotate-270"
        )
        source.consumer = receiver
        for _ in 0..<2 {
            receiver.forget()
            try await onControl {
                _ = try source.shouldInitialize()
                try source.shouldStart()
            }
            await receiver.wait { $0.hasEnded }
            #expect(receiver.frames.map(\.rotation).allSatisfy { $0 == .rotation270 })
            #expect(receiver.frames.count == 5)
            try await onControl { try source.shouldStop() }
        }
        try await onControl { try source.shouldDispose() }
    }

    @Test func eachConcatenatedStreamHasItsOwnRotation() async throws {
        let all = try await rotations(
            """
            concat name=c ! appsink max-buffers=2
            videotestsrc num-buffers=4 ! \(Self.tiny) ! c.
            videotestsrc num-buffers=3 ! \(Self.tiny) ! taginject tags=image-orientation=rotate-90 ! c.
            videotestsrc num-buffers=2 ! \(Self.tiny) ! taginject tags=image-orientation=rotate-180 ! c.
            videotestsrc num-buffers=4 ! \(Self.tiny) ! c.
            """)
        #expect(
            all == [.upright, .upright, .upright, .upright, .rotation90, .rotation90, .rotation90]
                + [.rotation180, .rotation180, .upright, .upright, .upright, .upright])
    }

    @Test func rotationInsideTheStringLeavesFramesUpright() async throws {
        let text =
            "videotestsrc num-buffers=3 ! \(Self.tiny) ! taginject tags=image-orientation=rotate-90 "
            + "! videoflip video-direction=auto"
        var count = 0
        for try await frame in try PipelineVideoSource(text).frames() {
            #expect(frame.rotation == .upright && frame.width == 8 && frame.height == 16)
            count += 1
        }
        #expect(count == 3)
    }

    @Test func phoneVideoIsUprightAsInFFmpeg() async throws {
        try await withTemporaryDirectory { directory in
            // The left half is black and the right half white, with metadata for a quarter turn.
            let flat = directory.file("flat.mp4")
            let film = directory.file("film.mp4")
            let upright = directory.file("upright.raw")
            let sides = "color=black:s=64x64:r=25:d=0.2[a];color=white:s=64x64:r=25:d=0.2[b]"
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "\(sides);[a][b]hstack", "-pix_fmt",
                    "yuv420p", flat,
                ])
            // The matrix of a quarter turn, 40 bytes into the track header. The ffmpeg option that
            // writes one depends on ffmpeg's version.
            var bytes = try Data(contentsOf: URL(fileURLWithPath: flat))
            let header = try #require(bytes.range(of: Data("tkhd".utf8)))
            let matrix: [UInt32] = [0, 0x1_0000, 0, 0xffff_0000, 0, 0, 0, 0, 0x4000_0000]
            let place = header.upperBound + 40
            bytes.replaceSubrange(
                place..<place + 36,
                with: matrix.flatMap { [$0 >> 24, $0 >> 16, $0 >> 8, $0] }
                    .map { UInt8(truncatingIfNeeded: $0) })
            try bytes.write(to: URL(fileURLWithPath: film))
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-i", film, "-frames:v", "1", "-pix_fmt", "gray", "-f",
                    "rawvideo",
                    upright,
                ])
            let shown = try [UInt8](Data(contentsOf: URL(fileURLWithPath: upright)))
            #expect(shown.count == 64 * 128)
            let converter = FrameConverter()
            var count = 0
            for try await frame in try PipelineVideoSource(
                "filesrc location=\(film) ! decodebin ! videoconvert ! video/x-raw,format=GRAY8"
            ).frames() {
                #expect(frame.rotation == .rotation90 || frame.rotation == .rotation270)
                #expect(frame.width == 128 && frame.height == 64)
                let turned = try converter.convert(
                    frame, to: VideoConversion(rotation: frame.rotation))
                let rows = try turned.rows[0]
                try #require(rows.count == 128 && rows[0].count == 64)
                // Checks which of the two halves is on top.
                for y in [5, 120] {
                    #expect((rows[y][32] > 128) == (shown[y * 64 + 32] > 128))
                }
                count += 1
            }
            #expect(count == 5)
        }
    }

    @Test func savedPictureOfAFrameIsUpright() async throws {
        try await withTemporaryDirectory { directory in
            let size = VideoSize(width: 32, height: 16)
            var frame = try DefinedPicture.frame(.rgba, size)
            for (rotation, width) in [(VideoRotation.upright, 32), (.rotation90, 16)] {
                frame.rotation = rotation
                let path = directory.file("\(rotation.rawValue).png")
                try await frame.writePicture(to: path)
                let picture = try await MediaProbe(of: path)
                #expect(picture.video?.width == width && picture.video?.height == 48 - width)
            }
        }
    }

    @Test func orientationTagValuesAreParsed() {
        #expect(ImageOrientation(tag: "rotate-90") == ImageOrientation(degrees: 90))
        #expect(
            ImageOrientation(tag: "flip-rotate-0") == ImageOrientation(degrees: 0, isMirrored: true)
        )
        for text in ["", "rotate", "rotate-", "rotate-45", "rotate-360", "rotate--90", "flip-90"] {
            #expect(ImageOrientation(tag: text) == nil, "\(text)")
        }
    }
}
