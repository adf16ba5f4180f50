import ArgumentParser
import Foundation
import MediaBridge
import Synchronization

/// A custom audio source: a tone from a timer, in blocks of ten milliseconds.
final class ToneCapturer: AudioSource {
    var consumer: (any AudioFrameConsumer)?
    private let generator: Generator
    private let queue = DispatchQueue(label: "tone")
    private var timer: (any DispatchSourceTimer)?

    init(frequency: Double, blocks: Int) {
        generator = Generator(frequency: frequency, blocks: blocks)
    }

    func shouldStart() {
        guard let consumer else { return }
        let generator = self.generator
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(10))
        timer.setEventHandler { generator.tick(to: consumer) }
        timer.activate()
        self.timer = timer
    }

    func shouldStop() {
        timer?.cancel()
        timer = nil
    }

    func shouldDispose() { consumer = nil }

    /// The state that the timer uses, on its queue.
    private final class Generator: Sendable {
        static let format = AudioFormat(.f32le, sampleRate: 48000, channels: 1)
        private let frequency: Double
        private let blocks: Int
        private let next = Atomic<Int>(0)

        init(frequency: Double, blocks: Int) {
            self.frequency = frequency
            self.blocks = blocks
        }

        func tick(to consumer: any AudioFrameConsumer) {
            let number = next.add(1, ordering: .relaxed).oldValue
            guard number < blocks else {
                if number == blocks { consumer.sourceDidEnd() }
                return
            }
            do {
                let (rate, count) = (Self.format.sampleRate, Self.format.sampleRate / 100)
                let samples = (number * count..<(number + 1) * count).map { place in
                    0.3 * Float(sin(2 * .pi * frequency * Double(place) / Double(rate)))
                }
                let answer = consumer.consume(
                    try AudioFrame(
                        copying: samples, sampleRate: rate, channels: 1,
                        runningTime: Self.format.duration(sampleCount: number * count)))
                if case .dropped(let cause) = answer { print("block \(number): \(cause)") }
            } catch {
                consumer.sourceDidFail(error)
            }
        }
    }
}

struct CustomAudioSource: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generate a tone in a custom audio source.",
        usage: "bridge-examples custom-audio-source [<options>] <output>",
        discussion: """
            Examples:
              bridge-examples custom-audio-source tone.wav
              bridge-examples custom-audio-source --frequency 880 --seconds 0.5 beep.wav
            """)

    @Option(help: "Frequency of the tone in Hz.")
    var frequency = 440.0

    @Option(help: "Duration in seconds.")
    var seconds = 2.0

    @Argument(help: "WAV file to write (e.g. tone.wav).")
    var output: String

    func run() async throws {
        let place = "location=\(Recording.quoted(output))"
        let file = try PipelineAudioSink("audioconvert ! wavenc ! filesink \(place)")
        var configuration = MediaEngine.Configuration()
        configuration.hasVideo = false
        let engine = MediaEngine(configuration: configuration)
        let watch = Watch(engine)
        try await engine.setAudioSource(
            ToneCapturer(frequency: frequency, blocks: Int(seconds * 100)))
        try await engine.addAudioSink(file, to: .local)
        try await engine.startPreview()
        await watch.first { if case .sourceEnded(.audio) = $0 { true } else { nil } }
        try await engine.stopPreview()
        let sound = await engine.statistics.localAudio
        await engine.shutDown()
        try await watch.check()
        print("\(sound?.sampleCount ?? 0) samples of a tone: \(output)")
    }
}
