internal import Dispatch
internal import Synchronization

/// The result of a start. Only the first result noted counts.
final class StartOutcome: Sendable {
    private enum Outcome {
        case unknown
        case known(PipelineError?)
    }
    private let outcome = Mutex(Outcome.unknown)
    private let isKnown = DispatchSemaphore(value: 0)

    /// Notes the result, unless one has been noted already.
    ///
    /// - Parameter error: `nil` if the start succeeded.
    /// - Returns: Whether a result was noted before.
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

    /// Blocks until a result is noted, and returns its error; `nil` if the start succeeded.
    func wait() -> PipelineError? {
        isKnown.wait()
        return outcome.withLock { outcome in
            if case .known(let error) = outcome { return error }
            return nil
        }
    }
}
