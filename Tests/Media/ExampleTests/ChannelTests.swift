import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Two engines in one channel.
    @Suite(.hangGuard) struct ChannelTests {
        @Test func eachUserReceivesEveryFrameOfTheOther() async throws {
            try await withTemporaryDirectory { directory in
                var clip = Clip()
                clip.frames = 30
                let made = try await clip.make(at: directory.file("film.mkv"))
                // The audio is not linked. With decodebin, gst-launch-1.0 1.22 hangs once in thousands of runs.
                let expected = try await RawFilm(
                    of: "filesrc location=\(made) ! matroskademux ! h264parse ! avdec_h264",
                    in: directory)
                #expect(expected.frames == 30)
                let film = directory.file("the film.mkv")
                try FileManager.default.moveItem(atPath: made, toPath: film)
                let (anna, otto) = (directory.file("anna.yuv"), directory.file("otto.yuv"))
                let said = try await Example.run("call", film, anna, otto)
                #expect(said.contains("anna received 30 frames of otto"))
                for path in [anna, otto] { #expect(try RawFilm(path).bytes == expected.bytes) }
            }
        }

        @Test func missingFileIsReported() async throws {
            try await withTemporaryDirectory { directory in
                let result = try await Example.fail(
                    "call", "/no/film.mp4", directory.file("a.mkv"), directory.file("b.mkv"))
                #expect(result.status == 1)
                #expect(result.errors.contains("/no/film.mp4"))
            }
        }
    }

    /// Behaviour that all examples share.
    @Suite(.hangGuard) struct UsageTests {
        @Test func pipelineErrorContainsGStreamersMessage() async throws {
            let result = try await Example.fail(
                "black-and-white", "--capture", "nosuchsrc", "/tmp/never.mkv")
            #expect(result.status == 1)
            #expect(result.errors.contains("nosuchsrc"))
        }

        @Test func unwritableFileIsReported() async throws {
            let result = try await Example.fail("custom-source", "/no/such/place.mkv")
            #expect(result.status == 1)
            #expect(result.errors.contains("/no/such/place.mkv"))
        }

        @Test func unsupportedExtensionIsAUsageError() async throws {
            let result = try await Example.fail("custom-source", "bars.gif")
            #expect(result.status == 64)
            #expect(result.errors.contains(".mkv, .yuv, .png or .jpg"))
        }
    }
}
