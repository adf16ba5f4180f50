import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Audio from a source class.
    @Suite(.hangGuard) struct SoundTests {
        @Test func customAudioSourceIsRecordedCompletely() async throws {
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
    }
}
