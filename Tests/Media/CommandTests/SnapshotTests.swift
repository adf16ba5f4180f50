import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// `gst-bridge snapshot`.
    @Suite(.hangGuard) struct SnapshotTests {
        @Test(arguments: [
            ("picture.png", "png"), ("picture.jpg", "mjpeg"), ("PICTURE.JPEG", "mjpeg"),
        ])
        func snapshotSavesAFrameOfAFile(name: String, codec: String) async throws {
            try await withTemporaryDirectory { directory in
                let film = try await Clip().make(at: directory.file("clip.mp4"))
                let picture = directory.file(name)
                let ended = try await GstBridge.run([
                    "snapshot", "--capture",
                    "filesrc location=\(film) ! decodebin"
                        + (codec == "png" ? " ! videoconvert" : ""),
                    picture,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.output.isEmpty)
                let video = try await MediaProbe(of: picture).video
                #expect(video?.codec == codec)
                #expect(video?.width == 320)
                #expect(video?.height == 240)
                #expect(video?.frames == 1)
            }
        }

        @Test func sheetOfSparseFramesIsMadeQuickly() async throws {
            try await withTemporaryDirectory { directory in
                let film = directory.file("slow.mkv")
                try await Tool.check(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i",
                        "testsrc=size=64x48:rate=5:duration=1.2", "-vf", "setpts=N*100000/TB",
                        "-fps_mode", "passthrough", film,
                    ])
                let sheet = directory.file("sheet.png")
                let ended = try await GstBridge.run(["snapshot", "--sheet", "9x8", film, sheet])
                #expect(ended.status == 0, "\(ended.errors)")
            }
        }

        @Test func aPngHasThePixelsOfTheFrame() async throws {
            try await withTemporaryDirectory { directory in
                let pictures = try RawPictures(
                    "GRAY8", width: 8, height: 4, bytes: (0..<32).map { UInt8($0 * 8) },
                    in: directory)
                let picture = directory.file("a b.png")
                let ended = try await GstBridge.run([
                    "snapshot", "--capture", pictures.capture, picture,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                let raw = directory.file("decoded.raw")
                try await Tool.check(
                    "ffmpeg",
                    ["-v", "error", "-i", picture, "-pix_fmt", "gray", "-f", "rawvideo", raw])
                #expect(try bytes(of: raw) == pictures.bytes)
            }
        }

        @Test(.enabled("a machine with a camera captures that") { !FileManager.default.hasCamera })
        func snapshotShowsATestPatternWithoutCameraAndDisplay() async throws {
            try await withTemporaryDirectory { directory in
                let picture = directory.file("picture.png")
                let ended = try await GstBridge.run(["snapshot", picture])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("test pattern"))
                #expect(try await MediaProbe(of: picture).video?.width == 1280)
            }
        }

        @Test(arguments: ["picture.gif", "picture", "png"])
        func unsupportedExtensionIsAUsageError(name: String) async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run(["snapshot", directory.file(name)])
                #expect(ended.status == 64)
                #expect(ended.errors.contains(".png or .jpg"))
                #expect(directory.contents.isEmpty)
            }
        }

        @Test(
            arguments: [
                ("filesrc location=/no/film.mp4 ! decodebin ! videoconvert", "/no/film.mp4"),
                ("videotestsrc num-buffers=0", "without a single frame"),
                ("nosuchsrc", "nosuchsrc"),
            ])
        func aCaptureWithoutAFrameLeavesNoPicture(capture: String, word: String) async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run(
                    ["snapshot", "--capture", capture, directory.file("picture.png")])
                #expect(ended.status == 1)
                #expect(ended.errors.contains(word))
                #expect(directory.contents.isEmpty)
            }
        }

        @Test func errorNamesAnUnwritablePicture() async throws {
            let ended = try await GstBridge.run(
                [
                    "snapshot", "--capture", "videotestsrc num-buffers=1",
                    "/proc/version/picture.png",
                ])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("/proc/version/picture.png"))
        }
    }
}

extension FileManager {
    fileprivate var hasCamera: Bool {
        ((try? contentsOfDirectory(atPath: "/dev")) ?? []).contains { $0.hasPrefix("video") }
    }
}
