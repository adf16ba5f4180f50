import ArgumentParser
import Foundation
import MediaBridge

/// Works like OpenTok's audio driver, or Agora's external audio source and sink: one user pushes a
/// tone into the channel; the other pulls the audio to be played and writes it to a file of raw
/// samples.
struct AudioDriver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push a tone as one user, and pull it as another into a PCM file.",
        usage: "bridge-examples audio-driver [<options>] <output>",
        discussion: """
            The file has signed 16-bit samples at 48 kHz, mono. To play it: \
            ffplay -f s16le -ar 48000 heard.pcm

            Examples:
              bridge-examples audio-driver heard.pcm
              bridge-examples audio-driver --frequency 880 --seconds 0.5 heard.pcm
            """)

    @Option(help: "Frequency of the tone in Hz.")
    var frequency = 440.0

    @Option(help: "Duration in seconds.")
    var seconds = 2.0

    @Argument(help: "PCM file to write (e.g. heard.pcm).")
    var output: String

    func run() async throws {
        guard FileManager.default.createFile(atPath: output, contents: nil),
            let file = FileHandle(forWritingAtPath: output)
        else { throw ValidationError("Cannot write \(output)") }
        let (anna, otto) = (engine(), engine())
        try await anna.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await otto.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        for (engine, user) in [(anna, "anna"), (otto, "otto")] {
            try await engine.joinChannel("driver", userID: UserID(user))
        }
        // A microphone and a loudspeaker both process blocks, here of ten milliseconds.
        let clock = ContinuousClock()
        let start = clock.now
        for step in 0..<Int(seconds * 100) {
            anna.pushExternalAudioFrame(
                tone(step), timestamp: MediaTime(value: Int64(step), timescale: 100))
            if let played = otto.pullPlaybackAudioFrame(length: 48000 / 1000 * 2 * 1 * 10) {
                try file.write(contentsOf: played)
            }
            try await clock.sleep(until: start + .milliseconds(10 * (step + 1)))
        }
        try file.close()
        let playback = await otto.statistics.playback
        for engine in [anna, otto] { await engine.shutDown() }
        print("\(playback.mixedSamples) samples, \(playback.silentSamples) silent: \(output)")
    }

    private func engine() -> MediaEngine {
        var configuration = MediaEngine.Configuration()
        configuration.hasVideo = false
        return MediaEngine(configuration: configuration)
    }

    private func tone(_ step: Int) -> [Int16] {
        (step * 480..<(step + 1) * 480).map { place in
            Int16(10_000 * sin(2 * .pi * frequency * Double(place) / 48000))
        }
    }
}
