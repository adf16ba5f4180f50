internal import CMediaBridge

extension Pipeline {
    /// The bus's messages from now on. Each access creates an independent stream that gets every
    /// message; a reader that falls more than 256 messages behind loses the oldest.
    ///
    /// The first error is also kept in ``failure``, for late readers.
    public var messages: AsyncStream<BusMessage> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let id = bus.listen { continuation.yield($0) }
            continuation.onTermination = { [bus] _ in bus.unlisten(id) }
        }
    }

    /// Calls `listener` with the first error of each run only: later errors are its consequences.
    /// Runs on the thread that posts the error; it must return at once.
    package func onFirstError(_ listener: @escaping @Sendable (PipelineError) -> Void) {
        _ = bus.listen { [weak bus] message in
            if case .error(let error) = message, bus?.failure == error { listener(error) }
        }
    }

    /// Calls `listener` for every message, on the thread that posts it (usually a streaming
    /// thread): it must return at once. Stays registered for as long as the pipeline lives.
    public func onMessage(_ listener: @escaping @Sendable (BusMessage) -> Void) {
        _ = bus.listen(listener)
    }
}
