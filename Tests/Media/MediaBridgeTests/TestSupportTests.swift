import Foundation
import TestSupport
import Testing

/// Tests of the tools that other tests rely on.
@Suite(.hangGuard) struct TestSupportTests {
    @Test(arguments: ["clip.mkv", "clip.mp4"])
    func aClipIsExactToTheFrame(name: String) async throws {
        try await withTemporaryDirectory { directory in
            let clip = Clip()
            let path = try await clip.make(at: directory.file(name))
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == clip.frames)
            #expect(try await MediaProbe.videoTimes(of: path).count == clip.frames)
            let samples = try await MediaProbe.audioSamples(of: path)
            // AAC comes in whole blocks of 1024, and begins with one that only primes the decoder.
            #expect((clip.samples...clip.samples + 2048).contains(samples))
            #expect(directory.contents == [name])
        }
    }

    @Test func aProgramThatTakesTooLongIsKilled() async throws {
        let child = try ChildProcess("sleep", ["3600"])
        await #expect(throws: ChildProcess.Failure.self) {
            try await child.end(within: .seconds(1))
        }
        #expect(try await child.end().status == 128 + SIGKILL)
    }

    @Test func childProcessReceivesSignals() async throws {
        #expect(try await ChildProcess("sleep", ["3600"]).stop().status == 128 + SIGTERM)
    }

    /// Otherwise the end of one program's output would be detected only when the other has exited.
    @Test func childProcessDoesNotInheritThePipesOfAnother() async throws {
        try await withChildProcess("bash", ["-c", "readlink /proc/self/fd/1; exec sleep 3600"]) {
            try await $0.waitForOutput("]")
            let pipe = $0.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let held = try await Tool.check("ls", ["-l", "/proc/self/fd"])
            #expect(pipe.hasPrefix("pipe:[") && held.contains("pipe:["))
            #expect(!held.contains(pipe))
        }
    }

    @Test func errorNamesAMissingProgram() async throws {
        await #expect(throws: ChildProcess.Failure.self) { try await Tool.run("no-such-program") }
    }

    @Test func temporaryDirectoryIsRemovedAfterwards() async throws {
        let path = try await withTemporaryDirectory { directory in
            _ = try directory.write("text", to: "file")
            return directory.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
