import BridgeEngine
import MediaBridgeAgora
import MediaCore

/// An engine on a virtual clock, one running source, and all rendered frames.
struct TimedEngine {
    let backend = TestBackend()
    let engine: MediaEngine
    let source: SourceScript
    let sink = SinkScript()

    init(
        needsPacing: Bool = false,
        _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
    ) async throws {
        engine = makeEngine(backend, change)
        source = SourceScript("A", needsPacing: needsPacing)
        var options = SinkOptions()
        options.whenFull = .wait
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        try await engine.startPreview()
        // Frames that were captured a while ago are not older than the engine.
        backend.time.advance(to: start)
    }

    /// The earliest frame time, on the backend's clock.
    var start: MediaTime { MediaTime(seconds: 1010) }
    /// The engine's zero on the backend's clock.
    var origin: MediaTime { MediaTime(seconds: 1000) }

    /// A frame that was captured at this time on the backend's clock.
    func live(
        _ captured: MediaTime, from script: SourceScript,
        latency: MediaTime = MediaTime(.milliseconds(20))
    ) throws -> VideoFrame {
        var frame = try script.named(0)
        frame.runningTime = captured
        frame.liveTiming = LiveTiming(clockOrigin: .zero, latency: latency)
        return frame
    }

    /// A frame on a clock that only this source uses.
    func own(_ time: MediaTime, from script: SourceScript) throws -> VideoFrame {
        var frame = try script.named(0)
        frame.runningTime = time
        return frame
    }

    /// The times of the rendered frames, on the backend's clock.
    func rendered(_ count: Int) async -> [MediaTime] {
        await sink.rendered(count)
        return sink.frames.map { ($0.runningTime ?? .zero) + origin }
    }
}

extension MediaTime {
    static func milliseconds(_ value: Double) -> MediaTime { MediaTime(seconds: value / 1000) }
    var milliseconds: Double { seconds * 1000 }
}
