import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Push mode with a file of raw frames.
    @Suite(.hangGuard) struct PushTests {
        @Test func pushedFramesContainNoPadding() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("pushed.yuv")
                let said = try await Example.run("push", path)
                #expect(said.contains("60 of 60"))
                let film = try RawFilm(path)
                #expect(film.frames == 60)
                #expect((0..<60).allSatisfy { !film.luma($0).contains(150) })
                #expect((0..<60).allSatisfy { !film.chroma($0).contains(40) })
            }
        }

        @Test func pushAppliesStrideAndCrop() async throws {
            try await withTemporaryDirectory { directory in
                var numbers = SeededGenerator(seed: 3)
                let (stride, height, frames) = (96, 60, 5)
                let bytes = (0..<stride * height * 3 / 2 * frames).map { _ in
                    UInt8.random(in: 0...255, using: &numbers)
                }
                let input = directory.file("input.yuv")
                try Data(bytes).write(to: URL(fileURLWithPath: input))
                let path = directory.file("pushed.yuv")
                try await Example.run(
                    "push", "--input", input, "--stride", "96", "--height", "60", "--crop-left",
                    "10", "--crop-right", "22", "--crop-top", "4", "--crop-bottom", "8", path)
                var expected: [UInt8] = []
                for frame in 0..<frames {
                    var plane = frame * stride * height * 3 / 2
                    for (scale, left, top) in [(1, 10, 4), (2, 5, 2), (2, 5, 2)] {
                        for row in top..<top + 48 / scale {
                            let start = plane + row * stride / scale + left
                            expected += bytes[start..<start + 64 / scale]
                        }
                        plane += stride * height / scale / scale
                    }
                }
                #expect(try RawFilm(path, width: 64, height: 48).bytes == expected)
            }
        }

        @Test func emptyCropIsRefusedWithItsCause() async throws {
            try await withTemporaryDirectory { directory in
                let input = try directory.write(
                    String(repeating: "x", count: 96 * 60 * 3 / 2), to: "input.yuv")
                let result = try await Example.fail(
                    "push", "--input", input, "--stride", "96", "--height", "60", "--crop-left",
                    "96", directory.file("pushed.mkv"))
                #expect(result.status == 1)
                #expect(result.errors.contains("badSize"))
            }
        }
    }
}
