/// Watches work that may take any time, as long as it makes progress.
struct Progressing: Sendable {
    /// A description for errors: `reading a.mkv`.
    let what: String
    let stallTimeout: Duration
    /// Returns a number that grows while the work makes progress.
    let measure: @Sendable () -> Int

    init(what: String, stallTimeout: Duration, _ measure: @escaping @Sendable () -> Int) {
        self.what = what
        self.stallTimeout = stallTimeout
        self.measure = measure
    }

    private enum Outcome<R: Sendable>: Sendable {
        case done(Result<R, PipelineError>)
        case stuck
    }

    /// Runs `body` until it returns, or cancels it if there is no progress for ``stallTimeout``.
    func watch<R: Sendable>(
        _ body: @escaping @Sendable () async throws(PipelineError) -> R
    ) async throws(PipelineError) -> R {
        let outcome = await withTaskGroup(of: Outcome<R>.self) { group in
            group.addTask {
                do throws(PipelineError) {
                    return .done(.success(try await body()))
                } catch { return .done(.failure(error)) }
            }
            group.addTask {
                var last = -1
                while true {
                    let now = measure()
                    if now == last { return .stuck }
                    last = now
                    // If the task is cancelled, the sleep returns at once, and so does this loop.
                    do { try await Task.sleep(for: stallTimeout) } catch { return .stuck }
                }
            }
            var first = await group.next() ?? .stuck
            if case .stuck = first, Task.isCancelled, let next = await group.next() { first = next }
            group.cancelAll()
            return first
        }
        switch outcome {
        case .done(let result): return try result.get()
        case .stuck:
            throw PipelineError(
                .deadlineExceeded,
                message: "\(what) is stuck: no progress for \(stallTimeout)",
                advice: "look for a disk that does not answer")
        }
    }
}
