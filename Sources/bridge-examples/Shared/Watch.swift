import MediaBridge
import Synchronization
import UnixSignals

/// Observes a running engine: waits for its end and collects failures.
///
/// ```swift
/// let watch = Watch(engine)  // before the start, so that no event is missed
/// try await engine.startPreview()
/// await watch.untilTheEnd(within: seconds)
/// await engine.shutDown()  // completes the files
/// try await watch.check()  // throws the first failure so far
/// ```
///
/// Each event is consumed once: a wait begins after the event that ended the previous wait.
final class Watch: Sendable {
    /// The reason why a wait ended.
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
        let (stream, happen) = AsyncStream.makeStream(of: Happening.self)
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

    /// Waits until the source ends, something fails, the time limit is reached, or Ctrl-C is
    /// pressed.
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
            // The timeout of an earlier wait, which ended before it, is ignored.
            case .timeOver(number): return .timeOver
            case .timeOver: continue
            case .event(.sourceEnded(.video)): return .sourceEnded
            case .event(let event): if note(event) { return .failed }
            }
        }
        return .failed
    }

    /// Waits for an event.
    ///
    /// - Returns: The result of `pick` for that event; `nil` if a failure or Ctrl-C comes first.
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

    /// Waits for the first frame of the engine's source.
    ///
    /// - Returns: Whether it came; `false` if the source ends or fails before, or Ctrl-C is pressed.
    func firstFrame() async -> Bool {
        await first { event -> Bool? in
            switch event {
            case .firstFrame(.local, _): true
            case .sourceEnded(.video): false
            default: nil
            }
        } ?? false
    }

    /// Throws the first failure. Call it after the engine has been shut down.
    ///
    /// - Throws: The first failure that the engine reported.
    func check() async throws {
        for await happening in happenings {
            if case .event(let event) = happening { note(event) }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Remembers the first failure.
    ///
    /// - Returns: Whether the event reports a failure.
    @discardableResult
    private func note(_ event: EngineEvent) -> Bool {
        switch event {
        case .sourceFailed(_, let error), .sinkFailed(_, let error),
            .processorFailed(_, _, let error), .disconnected(let error):
            failure.withLock { $0 = $0 ?? error }
            return true
        default: return false
        }
    }
}
