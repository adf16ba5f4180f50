import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Sources that the program implements itself.
    @Suite(.hangGuard) struct SourceTests {
        @Test func threadedCustomSourceDeliversRawBytes() async throws {
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

        @Test func recordingOfACustomSourcePlays() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("a b \"c\".mkv")
                try await Example.run("custom-source", "--frames", "30", path)
                let video = try await MediaProbe(of: path).video
                #expect(video?.frames == 30)
                #expect(video?.width == 320 && video?.height == 240)
            }
        }
    }
}
