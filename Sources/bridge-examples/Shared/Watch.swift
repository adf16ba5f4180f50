import MediaBridge
import Synchronization
import UnixSignals

/// Looks after an engine that runs: for its end, and for what fails.
///
/// ```swift
/// let watch = Watch(engine)  // from before the start, so that nothing is missed
/// try await engine.startPreview()
/// await watch.untilTheEnd(within: seconds)
/// await engine.shutDown()  // completes the files
/// try await watch.check()  // throws what failed, now or before
/// ```
final class Watch: Sendable {
    /// Why the wait is over.
    enum End: Sendable {
        case sourceEnded, failed, timeOver, interrupted
    }
    private let events: EngineEvents
    private let failure = Mutex<EngineError?>(nil)

    init(_ engine: MediaEngine) { events = engine.events }

    /// Waits until the source has nothing more, something fails, the time is over, or Ctrl-C is pressed.
    ///
    /// - Parameter limit: Seconds; `nil` for no limit.
    @discardableResult
    func untilTheEnd(within limit: Double? = nil) async -> End {
        await withTaskGroup(of: End?.self) { group in
            group.addTask {
                await self.first { event in
                    if case .sourceEnded = event { End.sourceEnded } else { nil }
                } ?? .failed
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                    return .interrupted
                }
                return nil
            }
            if let limit {
                group.addTask { (try? await Task.sleep(for: .seconds(limit))).map { .timeOver } }
            }
            defer { group.cancelAll() }
            for await end in group { if let end { return end } }
            return .failed
        }
    }

    /// Waits for an event.
    ///
    /// - Returns: What `pick` makes of it; `nil` where something fails before it.
    @discardableResult
    func first<R: Sendable>(_ pick: @Sendable (EngineEvent) -> R?) async -> R? {
        for await event in events {
            if let picked = pick(event) { return picked }
            if note(event) { return nil }
        }
        return nil
    }

    /// To be called when the engine is shut down.
    ///
    /// - Throws: The first failure that the engine told of.
    func check() async throws {
        for await event in events { note(event) }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// - Returns: Whether it tells of a failure.
    @discardableResult
    private func note(_ event: EngineEvent) -> Bool {
        switch event {
        case .sourceFailed(let error), .rendererFailed(_, let error),
            .processorFailed(_, let error),
            .disconnected(let error):
            failure.withLock { $0 = $0 ?? error }
            return true
        default: return false
        }
    }
}
