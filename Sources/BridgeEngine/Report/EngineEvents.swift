internal import Synchronization

/// The events of an engine, in order, from the moment when this sequence was requested.
///
/// Events need not be read: at most the newest 256 unread ones are kept, and ``missed`` counts the
/// others. The sequence ends when the engine is shut down. Each value supports one reader.
public struct EngineEvents: AsyncSequence, Sendable {
    private let stream: AsyncStream<EngineEvent>
    private let missedEvents: Missed

    final class Missed: Sendable {
        let count = Atomic<Int>(0)
    }

    init(_ stream: AsyncStream<EngineEvent>, _ missed: Missed) {
        self.stream = stream
        missedEvents = missed
    }

    /// The number of unread events that were dropped in favour of newer ones.
    public var missed: Int { missedEvents.count.load(ordering: .relaxed) }

    /// Creates the iterator of the sequence's one reader.
    public func makeAsyncIterator() -> AsyncStream<EngineEvent>.AsyncIterator {
        stream.makeAsyncIterator()
    }
}

/// Distributes events to all listeners. Thread: any.
final class EventHub: Sendable {
    private struct Listener: Sendable {
        let continuation: AsyncStream<EngineEvent>.Continuation
        let missed: EngineEvents.Missed
    }
    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
        var isFinished = false
    }
    private let state = Mutex(State())
    private static let depth = 256

    func subscribe() -> EngineEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineEvent.self, bufferingPolicy: .bufferingNewest(Self.depth))
        let missed = EngineEvents.Missed()
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.listeners[state.next] = Listener(continuation: continuation, missed: missed)
            return state.next
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                // The listener is released outside the lock.
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        } else {
            continuation.finish()
        }
        return EngineEvents(stream, missed)
    }

    /// The number of current listeners.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    func post(_ event: EngineEvent) {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners.values {
            if case .dropped = listener.continuation.yield(event) {
                listener.missed.count.add(1, ordering: .relaxed)
            }
        }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return state.listeners
        }
        listeners.values.forEach { $0.continuation.finish() }
    }
}
