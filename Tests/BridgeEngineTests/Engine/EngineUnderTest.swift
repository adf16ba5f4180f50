import BridgeEngine
import MediaCore

/// An engine without C, in a configuration that gives up soon.
func makeEngine(
    _ backend: TestBackend = TestBackend(), transport: any ChannelTransport = NoTransport(),
    _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
) -> MediaEngine {
    var configuration = MediaEngine.Configuration()
    configuration.statisticsInterval = nil
    change(&configuration)
    return MediaEngine(configuration: configuration, backend: backend, transport: transport)
}

extension MediaEngine {
    /// The trace as text, without what renderers do.
    nonisolated var sourceTrace: [String] {
        trace.filter { $0.object.hasPrefix("source") }.map(\.description)
    }
    nonisolated var rendererTrace: [String] {
        trace.filter { $0.object.hasPrefix("renderer") }.map(\.description)
    }
}

extension EngineEvents {
    /// The next event that `pick` takes.
    func first<T>(_ pick: (EngineEvent) -> T?) async -> T? {
        for await event in self { if let picked = pick(event) { return picked } }
        return nil
    }
}
