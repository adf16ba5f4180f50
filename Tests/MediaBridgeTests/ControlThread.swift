import Dispatch

/// Runs blocking calls where an engine would: on a thread that is neither a task's nor GStreamer's.
func onControlThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "test.control").async {
            continuation.resume(with: Result { try body() })
        }
    }
}
