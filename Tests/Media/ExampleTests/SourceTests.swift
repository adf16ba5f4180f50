import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Sources that the program implements itself.
    @Suite(.hangGuard) struct SourceTests {
        @Test func aSourceWithAThreadOfItsOwnDeliversBareBytes() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("bars.yuv")
                let said = try await Example.run("custom-source", "--frames", "30", path)
                #expect(said.contains("30 frames"))
                #expect(
                    said.split(separator: "\n").suffix(5).map {
                        $0.trimmingCharacters(in: .whitespaces)
                    }
                        == ["query", "initialize", "start", "stop", "dispose"].map {
                            "source 1: \($0)"
                        })
                let film = try RawFilm(path)
                #expect(film.frames == 30)
                for frame in 0..<30 {
                    let row = film.luma(frame).prefix(320)
                    #expect(row.firstIndex(of: 235).map { $0 - row.startIndex } == frame * 4)
                    #expect(film.chroma(frame).first == 160 && film.chroma(frame).last == 100)
                }
            }
        }

        @Test func noiseIsAnotherPictureEachTime() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("noise.yuv")
                try await Example.run("noise", "--frames", "30", path)
                let film = try RawFilm(path)
                #expect(film.frames == 30)
                #expect(Set((0..<30).map { film.luma($0) }).count == 30)
                // The source wrote every sample: none kept its allocated value.
                #expect(Set(film.luma(0)).count > 200 && Set(film.chroma(0)).count > 200)
            }
        }

        @Test func aRecordingOfASourceOfOnesOwnPlays() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("a b \"c\".mkv")
                try await Example.run("custom-source", "--frames", "30", path)
                let video = try await MediaProbe(of: path).video
                #expect(video?.frames == 30)
                #expect(video?.width == 320 && video?.height == 240)
            }
        }

        @Test func twoSourcesSideBySideAreOne() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("both.mkv")
                try await Example.run(
                    "side-by-side", "--left", Example.film("white", "width=160,height=120"),
                    "--right", Example.film("black"), path)
                let video = try await MediaProbe(of: path).video
                #expect(video?.width == 640 && video?.height == 240)
                let halves = try await MediaProbe.luma(of: path, columns: 2)
                #expect(halves.count == 30)
                #expect(halves.allSatisfy { $0[0] > 200 && $0[1] < 40 })
            }
        }

        @Test func oneselfIsSmallInTheCornerOfTheOther() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("call.mkv")
                let frames = 30
                try await Example.run(
                    "picture-in-picture", "--remote", Example.film("white", frames: frames),
                    "--local", Example.camera("black", "width=640,height=480"), path)
                #expect(try await MediaProbe(of: path).video?.frames == frames)
                // Cells of 16 × 16 pixels; the small picture covers 208…303 × 152…223.
                let fields = try await MediaProbe.luma(of: path, columns: 20, rows: 15)
                // The small picture appears with the first local frame; the remote stream may be
                // slightly ahead.
                let last = try #require(fields.last)
                func luma(_ x: Int, _ y: Int) -> UInt8 { last[y * 20 + x] }
                #expect(luma(14, 11) < 40 && luma(17, 12) < 40)
                #expect(luma(0, 0) > 200 && luma(12, 11) > 200 && luma(19, 14) > 200)
            }
        }
    }
}
