import Foundation
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// Animated pictures that are made of recordings.
@Suite(.hangGuard) struct AnimationTests {
    /// Records four seconds of frames, each with the luma of its second: 40, 80, 120, 160.
    private func makeFilm(_ directory: TemporaryDirectory, _ ending: String) async throws
        -> Recordings.File
    {
        let path = directory.file("film.\(ending)")
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i",
                "nullsrc=size=320x240:rate=25:duration=4,format=yuv420p,"
                    + "geq=lum='40+40*floor(T)':cb=128:cr=128",
                "-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p", path,
            ])
        return try #require(try await Recordings(of: [path]).files.first)
    }

    @Test(arguments: ["mkv", "mp4", "ts"])
    func gifHasTheFramesOfItsRange(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let film = try await makeFilm(directory, ending)
            let path = directory.file("cut.gif")
            let made = try await film.animation(
                into: path, from: .seconds(1), to: .seconds(3), width: 160)
            #expect(made.path == path && made.frames == 25 && made.duration == .seconds(2))
            #expect(film.pictureSize(width: 160) == VideoSize(width: 160, height: 120))
            #expect(abs(made.began.timeIntervalSince(film.began) - 1) < 0.001)
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.codec == "gif" && probe.video?.frames == 25)
            #expect(probe.video?.width == 160 && probe.video?.height == 120)
            let times = try await MediaProbe.videoTimes(of: path)
            for (index, time) in times.enumerated() {
                #expect(abs(time - Double(index) * 0.08) < 0.001)
            }
            let luma = try await MediaProbe.luma(of: path).map { Int($0[0]) }
            // ffmpeg's gray ranges from 0 to 255. Colours of a GIF are rounded to five bits.
            let expected = [80, 120].map { ($0 - 16) * 255 / 219 }
            #expect(luma.count == 25 && abs(luma[0] - expected[0]) < 8, "\(luma)")
            #expect(abs(luma[24] - expected[1]) < 8 && Set(luma).count == 2, "\(luma)")
        }
    }

    /// A picture with thousands of colours fills the table of the compression several times.
    @Test func manyColoursAreApproximated() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i",
                    "testsrc2=size=320x240:rate=25:duration=1,noise=alls=10:allf=t", "-c:v", "ffv1",
                    "-pix_fmt", "yuv420p", path,
                ])
            let film = try #require(try await Recordings(of: [path]).files.first)
            let gif = directory.file("cut.gif")
            _ = try await film.animation(into: gif, width: 320, framesPerSecond: 25)
            let probe = try await MediaProbe(of: gif)
            #expect(probe.video?.frames == 25)
            let likeness = try await Tool.run(
                "ffmpeg",
                ["-hide_banner", "-i", gif, "-i", path, "-lavfi", "ssim", "-f", "null", "-"]
            ).errors.components(separatedBy: "All:").last?.prefix { "0123456789.".contains($0) }
            #expect(Double(likeness ?? "").map { $0 > 0.75 } == true, "\(likeness ?? "")")
        }
    }

    @Test func webpHasOneFrameForEachStep() async throws {
        try await withTemporaryDirectory { directory in
            let film = try await makeFilm(directory, "mkv")
            let path = directory.file("cut.webp")
            let made = try await film.animation(
                into: path, from: .seconds(2), width: 64, framesPerSecond: 10)
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            func number(_ place: Int, _ count: Int) -> Int {
                (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
            }
            #expect(bytes.starts(with: Array("RIFF".utf8)) && number(4, 4) == bytes.count - 8)
            #expect(made.bytes == bytes.count && made.frames == 20)
            var (place, durations, units) = (12, [Int](), [[UInt8]]())
            while place < bytes.count {
                let (name, size) = (
                    String(decoding: bytes[place..<place + 4], as: UTF8.self), number(place + 4, 4)
                )
                if name == "ANMF" {
                    durations.append(number(place + 8 + 12, 3))
                    units.append(Array(bytes[place + 8 + 16..<place + 8 + size]))
                }
                place += 8 + size + size % 2
            }
            #expect(place == bytes.count && durations == [Int](repeating: 100, count: 20))
            // Each is a picture that another reader decodes.
            let picture = directory.file("picture.webp")
            let unit = Array("WEBP".utf8) + units[15]
            let size = withUnsafeBytes(of: UInt32(unit.count).littleEndian) { [UInt8]($0) }
            try Data(Array("RIFF".utf8) + size + unit).write(to: URL(fileURLWithPath: picture))
            let luma = try await MediaProbe.luma(of: picture).map { Int($0[0]) }
            #expect(luma.count == 1 && abs(luma[0] - (160 - 16) * 255 / 219) < 6, "\(luma)")
        }
    }

    @Test func impossibleAnimationIsAnError() async throws {
        try await withTemporaryDirectory { directory in
            let film = try await makeFilm(directory, "mkv")
            for (name, begin, width, rate) in [
                ("cut.png", 0, 480, 12.5), ("cut.gif", 5, 480, 12.5), ("cut.gif", 0, 8, 12.5),
                ("cut.gif", 0, 480, 90),
            ] {
                let path = directory.file(name)
                await #expect(throws: PipelineError.self) {
                    try await film.animation(
                        into: path, from: .seconds(begin), width: width, framesPerSecond: rate)
                }
                #expect(!FileManager.default.fileExists(atPath: path))
            }
            let path = directory.file("there.gif")
            try Data([1]).write(to: URL(fileURLWithPath: path))
            let error = await #expect(throws: PipelineError.self) {
                try await film.animation(into: path, width: 32)
            }
            #expect(error?.code == .alreadyExists)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1]))
        }
    }
}
