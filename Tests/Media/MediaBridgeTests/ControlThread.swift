import Dispatch

/// Runs blocking calls where an engine would: on a thread that is neither a task's nor GStreamer's.
func onControlThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await onControl(body)
}

/// The same, with a result.
func onControl<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "test.control").async {
            continuation.resume(with: Result { try body() })
        }
    }
}
