import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Renderers and processors: the processing of captured frames.
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

        @Test func blackAndWhiteOfAFilmThatIsNotI420IsAPictureWithoutColours() async throws {
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

        @Test func processorsWorkForEverybodyOrForTheLocalViewAlone() async throws {
            try await withTemporaryDirectory { directory in
                let (local, remote) = (directory.file("local.yuv"), directory.file("remote.yuv"))
                let said = try await Example.run(
                    "processors", "--capture", Example.film("smpte"), local, remote)
                let colour = try await RawFilm(of: Example.film("smpte"), in: directory)
                let (seen, sent) = (try RawFilm(local), try RawFilm(remote))
                // In real time a busy machine may drop frames; the remaining frames are in order.
                #expect(said.contains("\(seen.frames) frames in black and white with a watermark:"))
                #expect(said.contains("\(sent.frames) frames in black and white:"))
                #expect(colour.places(of: sent) { $0 == $1 }.count == sent.frames)
                let marked = colour.places(of: seen) { original, found in
                    let changed = zip(original, found).enumerated()
                        .filter { $0.element.0 != $0.element.1 }.map(\.offset)
                    return changed.count > 500
                        && changed.allSatisfy {
                            (12..<76).contains($0 % 320) && (12..<28).contains($0 / 320)
                        }
                }
                #expect(marked.count == seen.frames, "the mark is at its place and nowhere else")
                for film in [seen, sent] {
                    #expect(film.frames > 0)
                    #expect(
                        (0..<film.frames).allSatisfy { film.chroma($0).allSatisfy { $0 == 128 } })
                }
            }
        }

        @Test func notesCrossTheChannelWithTheirFrames() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("notes.csv")
                let said = try await Example.run(
                    "frame-metadata", "--capture", Example.film("ball"), path)
                let lines = try String(contentsOfFile: path, encoding: .utf8)
                    .split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
                #expect(lines.first == ["number", "taken", "due", "picture"])
                let notes = lines.dropFirst()
                // In real time a busy machine may drop frames before they are stamped, but none
                // afterwards.
                #expect(!notes.isEmpty && notes.map { $0[0] } == notes.indices.map { "\($0 - 1)" })
                #expect(said.contains("metadata of \(notes.count) of 30 frames"), "\(said)")
                let times = notes.map { $0[1] }
                #expect(times == times.sorted() && Set(times).count == notes.count)
                #expect(notes.allSatisfy { $0[3] == "320x240" })
            }
        }
    }
}
