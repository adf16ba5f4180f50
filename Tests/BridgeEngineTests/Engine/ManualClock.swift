import BridgeEngine
import MediaCore
import Synchronization

/// A backend whose clock a test sets: what is due when does not depend on the machine.
struct ManualBackend: MediaBackend {
    private let inner = TestBackend()
    let clock = ManualClock()

    func clockTime() -> MediaTime { clock.now }
    func makeDefaultSource() throws -> sending any VideoSource { try inner.makeDefaultSource() }
    func makeConverter() -> any VideoConverter { inner.makeConverter() }
    func makeDecoder(
        _ codec: EncodedVideoFrame.Codec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder { try inner.makeDecoder(codec, to: consumer) }

    func advance(_ step: MediaTime) { clock.set(clock.now + step) }

    /// An engine of sound alone that keeps this time.
    func makeEngine(transport: any ChannelTransport = NoTransport()) -> MediaEngine {
        var configuration = MediaEngine.Configuration()
        configuration.statisticsInterval = nil
        configuration.hasVideo = false
        return MediaEngine(configuration: configuration, backend: self, transport: transport)
    }
}

/// Time that passes when a test says so.
final class ManualClock: Sendable {
    private let time = Mutex(MediaTime(seconds: 1000))

    var now: MediaTime { time.withLock { $0 } }

    func set(_ now: MediaTime) { time.withLock { $0 = max($0, now) } }
}

/// An engine on a clock of the test's, one source that runs, and all that comes of its frames.
struct TimedEngine {
    let backend = ManualBackend()
    let engine: MediaEngine
    let source: SourceScript
    let sink = SinkScript()

    init(
        pacing: MediaPacing = .source,
        _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
    ) async throws {
        var configuration = MediaEngine.Configuration()
        configuration.statisticsInterval = nil
        change(&configuration)
        engine = MediaEngine(
            configuration: configuration, backend: backend, transport: NoTransport())
        source = SourceScript("A", pacing: pacing)
        var options = RendererOptions()
        options.whenFull = .wait
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        try await engine.startPreview()
        // Frames that were taken a while ago are not older than the engine.
        backend.clock.set(start)
    }

    /// When frames may begin, on the backend's clock.
    var start: MediaTime { MediaTime(seconds: 1010) }
    /// The engine's zero on the backend's clock.
    var origin: MediaTime { MediaTime(seconds: 1000) }

    /// A frame that was captured at this time of the backend's clock.
    func live(
        _ captured: MediaTime, from script: SourceScript,
        latency: MediaTime = MediaTime(.milliseconds(20))
    ) throws -> VideoFrame {
        var frame = try script.named(0)
        frame.runningTime = captured
        frame.liveTiming = LiveTiming(clockOrigin: .zero, latency: latency)
        return frame
    }

    /// A frame of a clock that is nobody else's.
    func own(_ time: MediaTime, from script: SourceScript) throws -> VideoFrame {
        var frame = try script.named(0)
        frame.runningTime = time
        return frame
    }

    /// What was rendered, on the backend's clock.
    func rendered(_ count: Int) async -> [MediaTime] {
        await sink.rendered(count)
        return sink.frames.map { ($0.runningTime ?? .zero) + origin }
    }
}

extension MediaTime {
    static func milliseconds(_ value: Double) -> MediaTime { MediaTime(seconds: value / 1000) }
    var milliseconds: Double { seconds * 1000 }
}
