internal import CMediaBridge

extension Pipeline {
    /// The bus's messages from now on. Each caller has a stream of its own and misses nothing to
    /// another; a reader that falls more than 256 messages behind loses the oldest.
    ///
    /// The outcome is kept besides, in ``failure`` and ``hasEnded``, for those who ask late.
    public var messages: AsyncStream<BusMessage> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let id = bus.listen { continuation.yield($0) }
            continuation.onTermination = { [bus] _ in bus.unlisten(id) }
        }
    }

    /// Calls `listener` with the first error of a run alone: those that follow are its consequences.
    /// On the thread that posts it; it must return at once.
    public func onFirstError(_ listener: @escaping @Sendable (PipelineError) -> Void) {
        _ = bus.listen { [weak bus] message in
            if case .error(let error) = message, bus?.failure == error { listener(error) }
        }
    }

    /// Calls `listener` for every message, on the thread that posts it (a streaming thread, mostly):
    /// it must return at once. For as long as the pipeline lives.
    public func onMessage(_ listener: @escaping @Sendable (BusMessage) -> Void) {
        _ = bus.listen(listener)
    }
}
