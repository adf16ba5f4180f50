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
///
/// What it has heard it has heard: a wait begins where the one before it ended.
final class Watch: Sendable {
    /// Why the wait is over.
    enum End: Sendable {
        case sourceEnded, failed, timeOver, interrupted
    }
    private enum Happening: Sendable {
        case event(EngineEvent)
        case timeOver(Int)
        case interrupted
    }
    private let happenings: AsyncStream<Happening>
    private let happen: AsyncStream<Happening>.Continuation
    private let signals: Task<Void, Never>
    private let waits = Atomic<Int>(0)
    private let failure = Mutex<EngineError?>(nil)

    init(_ engine: MediaEngine) {
        let (stream, happen) = AsyncStream.makeStream(
            of: Happening.self, bufferingPolicy: .bufferingNewest(256))
        (happenings, self.happen) = (stream, happen)
        let events = engine.events
        Task {
            for await event in events { happen.yield(.event(event)) }
            happen.finish()
        }
        signals = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                happen.yield(.interrupted)
            }
        }
    }

    deinit { signals.cancel() }

    /// Waits until the source has nothing more, something fails, the time is over, or Ctrl-C is pressed.
    ///
    /// - Parameter limit: Seconds; `nil` for no limit.
    @discardableResult
    func untilTheEnd(within limit: Double? = nil) async -> End {
        let number = waits.add(1, ordering: .relaxed).newValue
        let timer = Task {
            guard let limit else { return }
            try await Task.sleep(for: .seconds(limit))
            happen.yield(.timeOver(number))
        }
        defer { timer.cancel() }
        for await happening in happenings {
            switch happening {
            case .interrupted: return .interrupted
            // Not one of a wait that ended before its time.
            case .timeOver(number): return .timeOver
            case .timeOver: continue
            case .event(.sourceEnded): return .sourceEnded
            case .event(let event): if note(event) { return .failed }
            }
        }
        return .failed
    }

    /// Waits for an event.
    ///
    /// - Returns: What `pick` makes of it; `nil` where something fails before it, or Ctrl-C is pressed.
    @discardableResult
    func first<R: Sendable>(_ pick: @Sendable (EngineEvent) -> R?) async -> R? {
        for await happening in happenings {
            switch happening {
            case .interrupted: return nil
            case .timeOver: continue
            case .event(let event):
                if let picked = pick(event) { return picked }
                if note(event) { return nil }
            }
        }
        return nil
    }

    /// To be called when the engine is shut down.
    ///
    /// - Throws: The first failure that the engine told of.
    func check() async throws {
        for await happening in happenings {
            if case .event(let event) = happening { note(event) }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// - Returns: Whether it tells of a failure.
    @discardableResult
    private func note(_ event: EngineEvent) -> Bool {
        switch event {
        case .sourceFailed(let error), .rendererFailed(_, let error),
            .processorFailed(_, let error), .audioSourceFailed(let error),
            .audioSinkFailed(_, let error), .disconnected(let error):
            failure.withLock { $0 = $0 ?? error }
            return true
        default: return false
        }
    }
}
