import TestSupport

@testable import BridgeEngine

extension MediaEngine {
    /// The statistics once they meet a condition: a frame is counted after its receiver has handled
    /// it.
    func statistics(
        once isReached: @escaping @Sendable (EngineStatistics) -> Bool
    ) async -> EngineStatistics {
        // The test's deadline cancels the wait.
        await CountWatch.read(
            within: nil, on: .system, isCancellable: true, until: isReached, statisticsNow)
    }
}
