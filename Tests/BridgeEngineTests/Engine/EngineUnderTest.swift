import BridgeEngine
import MediaCore

/// An engine without C, in a configuration that gives up soon.
///
/// - Parameter isKept: Whether the test holds it to its end, where its counts are looked at.
func makeEngine(
    _ backend: any MediaBackend = TestBackend(), transport: any ChannelTransport = NoTransport(),
    isKept: Bool = true, _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
) -> MediaEngine {
    var configuration = MediaEngine.Configuration()
    configuration.statisticsInterval = nil
    change(&configuration)
    let engine = MediaEngine(
        configuration: configuration, backend: backend, transport: transport)
    if isKept { BalanceBook.current?.add(engine) }
    return engine
}

extension MediaEngine {
    /// The statistics once they say so: a frame is counted after its renderer has had it.
    func statistics(once isReached: (EngineStatistics) -> Bool) async -> EngineStatistics {
        var statistics = self.statistics
        // A test's deadline cancels it.
        while !isReached(statistics), !Task.isCancelled {
            await Task.yield()
            statistics = self.statistics
        }
        return statistics
    }

    /// The trace as text, without what renderers do.
    nonisolated var sourceTrace: [String] {
        trace.filter { $0.object.hasPrefix("source") }.map(\.description)
    }
    nonisolated var rendererTrace: [String] {
        trace.filter { $0.object.hasPrefix("renderer") }.map(\.description)
    }
}

extension EngineEvents {
    /// Suspends until an event of this name.
    func first(named name: String) async {
        _ = await first { $0.name == name ? true : nil }
    }
}

extension EngineEvent {
    /// The case's name.
    var name: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
}

extension [EngineEvent] {
    func count(_ name: String) -> Int { filter { $0.name == name }.count }

    /// The codes of the errors in events of this name.
    func codes(_ name: String) -> [EngineError.Code] {
        compactMap { event in
            guard event.name == name else { return nil }
            switch event {
            case .sourceFailed(_, let error), .rendererFailed(_, let error),
                .processorFailed(_, _, let error), .disconnected(let error):
                return error.code
            default: return nil
            }
        }
    }
}

/// Gives up soon where nothing comes; calls still have time on a slow machine.
func shortDeadlines(_ configuration: inout MediaEngine.Configuration) {
    configuration.callDeadline = .seconds(2)
    configuration.firstFrameDeadline = .milliseconds(300)
}
