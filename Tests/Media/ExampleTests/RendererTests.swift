import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Renderers that the program implements itself.
    @Suite(.hangGuard) struct RendererTests {
        @Test func blackAndWhiteHasTheLumaOfTheSourceAndNoChroma() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("gray.yuv")
                let said = try await Example.run(
                    "black-and-white", "--capture", Example.film("smpte"), path)
                #expect(said.contains("30 frames"))
                let (gray, colour) = (
                    try RawFilm(path), try await RawFilm(of: Example.film("smpte"), in: directory)
                )
                #expect(gray.frames == 30)
                #expect((0..<30).allSatisfy { gray.luma($0) == colour.luma($0) })
                #expect((0..<30).allSatisfy { gray.chroma($0).allSatisfy { $0 == 128 } })
            }
        }

        @Test func blackAndWhiteConvertsOtherPixelFormats() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("gray.png")
                let capture = Example.film("red").replacing("I420", with: "BGRx")
                try await Example.run("black-and-white", "--capture", capture, path)
                #expect(try await MediaProbe(of: path).video?.codec == "png")
                let raw = directory.file("gray.rgb")
                try await Tool.check(
                    "ffmpeg",
                    ["-v", "error", "-i", path, "-pix_fmt", "rgb24", "-f", "rawvideo", raw])
                let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: raw)))
                #expect(bytes.count == 320 * 240 * 3)
                // Red has some luma, and only that remains: one gray everywhere.
                #expect(Set(bytes).count == 1 && (40...120).contains(bytes[0]))
            }
        }
    }
}
