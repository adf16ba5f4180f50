import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Audio from a source class and by push.
    @Suite(.hangGuard) struct SoundTests {
        @Test func aSourceOfOnesOwnIsHeardToTheSample() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("tone.wav")
                let said = try await Example.run("custom-audio-source", "--seconds", "1", path)
                #expect(said.contains("samples of a tone"))
                let audio = try #require(try await MediaProbe(of: path).audio)
                #expect(audio.sampleRate == 48000)
                #expect(audio.channels == 1)
                // A timer that fires late on a busy machine leaves a gap, which is filled.
                #expect(try await MediaProbe.audioSamples(of: path) >= 48000)
            }
        }

        @Test func whatIsPushedByOneIsPulledByTheOther() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("heard.pcm")
                let said = try await Example.run("audio-driver", "--seconds", "1", path)
                #expect(said.contains("48000 samples"))
                let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(bytes.count == 96000)
                let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
                #expect(samples.contains { $0 > 9000 } && samples.contains { $0 < -9000 })
            }
        }
    }
}
