internal import Synchronization

/// Distributes a recording's events to streams and callbacks.
final class RecorderListeners: Sendable {
    private struct State {
        /// Called synchronously, on the thread that reports the event.
        var callbacks: [@Sendable (RecorderEvent) -> Void] = []
        var listeners: [Int: AsyncStream<RecorderEvent>.Continuation] = [:]
        var next = 0
        var last: RecorderEvent?
    }
    private let state = Mutex(State())

    func stream() -> AsyncStream<RecorderEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let last = state.withLock { state in
                guard state.last == nil else { return state.last }
                let id = state.next
                state.next += 1
                state.listeners[id] = continuation
                continuation.onTermination = { [weak self] _ in
                    _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
                }
                return nil
            }
            guard let last else { return }
            continuation.yield(last)
            continuation.finish()
        }
    }

    func onEvent(_ body: @escaping @Sendable (RecorderEvent) -> Void) {
        state.withLock { $0.callbacks.append(body) }
    }

    func tell(_ event: RecorderEvent) {
        let (callbacks, listeners) = state.withLock { state in
            (state.callbacks, state.last == nil ? Array(state.listeners.values) : [])
        }
        for callback in callbacks { callback(event) }
        for listener in listeners { listener.yield(event) }
    }

    func finish(with report: RecorderReport) {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.last = .finished(report)
            return Array(state.listeners.values)
        }
        for listener in listeners {
            listener.yield(.finished(report))
            listener.finish()
        }
    }
}
