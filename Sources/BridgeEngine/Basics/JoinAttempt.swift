internal import Synchronization

/// An attempt to join a channel, until the channel's answer arrives. Thread: any.
final class JoinAttempt: Sendable {
    private struct State {
        var isAbandoned = false
        var onAbandon: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    /// Stops waiting for the answer and calls the callback of ``onAbandon(_:)``.
    func abandon() {
        let body = state.withLock { state in
            state.isAbandoned = true
            return state.onAbandon.take()
        }
        body?()
    }

    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Calls `body` when the attempt is abandoned, or immediately if it already was.
    func onAbandon(_ body: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isAbandoned { state.onAbandon = body }
            return state.isAbandoned
        }
        if isLate { body() }
    }
}
