internal import Synchronization

/// The events of an object, in order, from the moment when this sequence was requested.
///
/// Events need not be read: at most the newest 256 unread ones are kept, and ``missed`` counts the
/// others. The sequence ends with the object's work. Each value supports one reader.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable {
    fileprivate let stream: AsyncStream<Event>
    fileprivate let missedEvents = Missed()

    fileprivate final class Missed: Sendable {
        let count = Atomic<Int>(0)
    }

    /// The number of unread events that were dropped in favour of newer ones.
    public var missed: Int { missedEvents.count.load(ordering: .relaxed) }

    /// Creates the iterator of the sequence's one reader.
    public func makeAsyncIterator() -> AsyncStream<Event>.AsyncIterator {
        stream.makeAsyncIterator()
    }
}

/// Distributes the events of one object to sequences and callbacks. Thread: any.
package final class EventHub<Event: Sendable>: Sendable {
    private struct State {
        /// Called synchronously, on the thread that reports the event.
        var listeners: [Int: @Sendable (Event) -> Void] = [:]
        var sequences: [Int: AsyncStream<Event>.Continuation] = [:]
        var next = 0
        var isFinished = false
        var last: Event?
    }
    private let state = Mutex(State())

    /// Creates a hub without readers.
    package init() {}

    /// Returns the events from now on; after the end, only the last event, if there is one.
    package func subscribe() -> EventSequence<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(256))
        let sequence = EventSequence(stream: stream)
        let (number, last) = state.withLock { state -> (Int?, Event?) in
            guard !state.isFinished else { return (nil, state.last) }
            state.next += 1
            state.sequences[state.next] = continuation
            state.listeners[state.next] = { [missed = sequence.missedEvents] event in
                guard case .dropped = continuation.yield(event) else { return }
                missed.count.add(1, ordering: .relaxed)
            }
            return (state.next, nil)
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                // The listener is released outside the lock.
                _ = self?.state.withLock {
                    (
                        $0.sequences.removeValue(forKey: number),
                        $0.listeners.removeValue(forKey: number)
                    )
                }
            }
        } else {
            if let last { continuation.yield(last) }
            continuation.finish()
        }
        return sequence
    }

    /// Calls `body` for every event, on the thread that reports it; after the end, for the last
    /// event, if there is one. `body` must return at once.
    package func onEvent(_ body: @escaping @Sendable (Event) -> Void) {
        let last = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = body
            return state.last
        }
        if let last { body(last) }
    }

    /// The number of sequences and callbacks.
    package var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// The sequences and callbacks so far: those that an event of this moment is reported to.
    package var listeners: [@Sendable (Event) -> Void] {
        state.withLock { Array($0.listeners.values) }
    }

    /// Reports an event.
    package func post(_ event: Event) { for listener in listeners { listener(event) } }

    /// Ends the sequences.
    ///
    /// - Parameter last: An event that is reported before, and to every later reader.
    package func finish(with last: Event? = nil) {
        let (listeners, sequences) = state.withLock { state in
            (state.last, state.isFinished) = (last, true)
            defer { state.sequences = [:] }
            return (Array(state.listeners.values), Array(state.sequences.values))
        }
        if let last { for listener in listeners { listener(last) } }
        for sequence in sequences { sequence.finish() }
    }
}
