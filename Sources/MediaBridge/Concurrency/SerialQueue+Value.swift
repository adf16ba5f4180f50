internal import MediaBasics

extension SerialQueue {
    /// Runs `body` on the queue, where it may block, and suspends until it has returned.
    func value<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: body()) }
        }
    }
}
