internal import Dispatch
internal import Synchronization

/// How a start went: the first thing that is known of it counts.
final class StartOutcome: Sendable {
    private enum Outcome {
        case unknown
        case known(PipelineError?)
    }
    private let outcome = Mutex(Outcome.unknown)
    private let isKnown = DispatchSemaphore(value: 0)

    /// - Parameter error: `nil` where it went well.
    /// - Returns: Whether it was known before.
    @discardableResult
    func note(_ error: PipelineError?) -> Bool {
        let wasKnown = outcome.withLock { outcome in
            if case .known = outcome { return true }
            outcome = .known(error)
            return false
        }
        if !wasKnown { isKnown.signal() }
        return wasKnown
    }

    /// Blocks until it is known.
    func wait() -> PipelineError? {
        isKnown.wait()
        return outcome.withLock { outcome in
            if case .known(let error) = outcome { return error }
            return nil
        }
    }
}
