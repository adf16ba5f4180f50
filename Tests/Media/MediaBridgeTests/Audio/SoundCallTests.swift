import Foundation
import MediaBridge
import MediaBridgeTesting
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard)
struct SoundCallTests {
    private func makeEngine(_ network: LoopbackNetwork) -> MediaEngine {
        var configuration = MediaEngine.Configuration()
        configuration.hasVideo = false
        return MediaEngine(configuration: configuration, transport: network)
    }

    @Test func mixContainsTheTonesOfTwoUsersInAnyFormat() async throws {
        let network = LoopbackNetwork()
        let listener = makeEngine(network)
        // An overloaded machine leaves gaps in the audio of live captures.
        let sink = Listener(samples: 4800) { samples in
            [441, 1764].allSatisfy { goertzel(samples, $0, rate: 48000) > 0.1 }
        }
        try await listener.addAudioSink(sink, to: .playback)
        try await listener.joinChannel("room", userID: "listener")
        var callers: [MediaEngine] = []
        for (name, tone) in [
            ("low", "freq=441 ! audio/x-raw,format=S16LE,rate=16000,channels=1"),
            ("high", "freq=1764 ! audio/x-raw,format=F32LE,rate=44100,channels=2"),
        ] {
            let engine = makeEngine(network)
            try await engine.setAudioSource(
                PipelineAudioSource("audiotestsrc is-live=true volume=0.3 \(tone)"))
            try await engine.joinChannel("room", userID: UserID(name))
            callers.append(engine)
        }
        await sink.hasEnough.wait()
        let samples = sink.samples
        #expect(goertzel(samples, 1000, rate: 48000) < 0.1)
        let statistics = await listener.statistics
        #expect(statistics.remoteAudio.count == 2)
        #expect(statistics.remoteAudio["low"]?.format?.sampleRate == 16000)
        for engine in callers + [listener] { await engine.shutDown() }
    }

    @Test func engineRecordsVideoAndAudioOfAFileInSync() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            (clip.frames, clip.width, clip.height) = (20, 64, 48)
            let path = try await clip.make(at: directory.file("in.mkv"))
            let out = directory.file("out.mkv")
            var configuration = MediaEngine.Configuration()
            configuration.isRealTime = false
            let engine = MediaEngine(configuration: configuration)
            let events = engine.events
            let film = try PipelineVideoSource(
                "filesrc location=\(path) ! decodebin name=d d. ! queue ! videoconvert ! "
                    + "appsink name=video d. ! queue ! audioconvert ! appsink name=audio")
            let recording = try PipelineVideoSink(
                "appsrc name=video ! videoconvert ! x264enc tune=zerolatency "
                    + "speed-preset=ultrafast ! mux. "
                    + "appsrc name=audio ! audioconvert ! audioresample ! avenc_aac ! mux. "
                    + "matroskamux name=mux ! filesink location=\(out)")
            try await engine.setVideoSource(film)
            try await engine.setAudioSource(film.audio)
            try await engine.addVideoSink(recording, to: .local())
            try await engine.addAudioSink(#require(recording.audio), to: .local)
            try await engine.startPreview()
            var ends = 0
            for await event in events {
                switch event {
                case .sourceEnded: ends += 1
                case .sourceFailed(_, let error), .sinkFailed(_, let error):
                    Issue.record(error)
                default: break
                }
                if ends == 2 { break }
            }
            try await engine.stopPreview()
            let statistics = await engine.statistics
            #expect(statistics.localAudio?.corrections == AudioCorrectionCounts())
            await engine.shutDown()
            await expectBalanced(engine)
            let probe = try await MediaProbe(of: out)
            #expect(probe.video?.frames == 20)
            let samples = try await MediaProbe.audioSamples(of: out)
            #expect(abs(samples - clip.samples) < 2500)
        }
    }

    @Test func missingSoundCardIsReported() async throws {
        guard try Device.list(klass: "Audio/Source").isEmpty else { return }
        let engine = makeEngine(LoopbackNetwork())
        let events = engine.events
        try await engine.enableAudio()
        try await engine.startPreview()
        var failure: EngineError?
        for await event in events {
            guard case .sourceFailed(.audio, let error) = event else { continue }
            failure = error
            break
        }
        #expect(failure?.code == .sourceNotInitialized)
        #expect((failure?.underlying as? PipelineError)?.code == .notFound)
        let speakers = #expect(throws: PipelineError.self) { try PipelineAudioSink.speakers() }
        #expect(speakers?.code == .notFound)
        await engine.shutDown()
        await expectBalanced(engine)
    }

    /// The strength of a tone in the samples, from 0 to 1.
    private func goertzel(_ samples: [Float], _ frequency: Double, rate: Double) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let angle = 2 * Double.pi * frequency * Double(index) / rate
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
    }
}

/// Collects the given number of samples, beginning with the first loud frame.
private final class Listener: AudioSink, Sendable {
    private let heard = Mutex<[Float]>([])
    private let wanted: Int
    private let isEnough: @Sendable ([Float]) -> Bool
    let hasEnough = Happening()

    /// - Parameters:
    ///   - samples: How many samples are looked at together.
    ///   - isEnough: Whether the samples end the wait.
    init(samples: Int, _ isEnough: @escaping @Sendable ([Float]) -> Bool) {
        wanted = samples
        self.isEnough = isEnough
    }

    func audioFormat() -> AudioConversion { AudioConversion(sampleFormat: .f32le, channels: 1) }

    func render(_ frame: AudioFrame) throws {
        let samples = try frame.channel(0, as: Float.self)
        let isFull = heard.withLock { heard in
            if heard.count >= wanted {
                guard !isEnough(heard) else { return true }
                heard = []
            }
            heard += samples
            return false
        }
        if isFull { hasEnough.happen() }
    }

    var samples: [Float] { heard.withLock { $0 } }
}
