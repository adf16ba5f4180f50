import Dispatch

/// Runs blocking calls where an engine would: on a thread outside Swift's task pool and GStreamer.
func onControlThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await onControl(body)
}

/// Like `onControlThread`, but returns a result.
func onControl<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "test.control").async {
            continuation.resume(with: Result { try body() })
        }
    }
}
