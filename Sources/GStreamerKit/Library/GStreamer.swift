internal import CMediaBridge
internal import Dispatch
package import MediaBasics
internal import Synchronization

/// The GStreamer library itself.
public enum GStreamer {
    /// Initialises GStreamer once for the process; every entry into this module does so by itself.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/initializationFailed`` where GStreamer
    ///   cannot start.
    public static func initialize() throws(PipelineError) { try initialized.get() }

    /// `GStreamer 1.22.0`
    public static var version: String {
        guard let text = gst_version_string() else { return "GStreamer" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// How long the last owners' pipelines may take to NULL unless a caller says otherwise: 10 s,
    /// multiplied by the environment's `MEDIABRIDGE_DEADLINE_FACTOR` where that is set.
    public static let teardownDeadline = Duration.seconds(10).asDefaultDeadline

    /// Waits until every pipeline that was let go of is really gone, then ends GStreamer, so that its
    /// `leaks` tracer can report. Nothing of this module may be used afterwards.
    ///
    /// Call it, if at all, as the last thing a process does. Thread: any but a streaming thread.
    public static func shutDown(deadline: Duration = teardownDeadline) {
        waitForTeardown(deadline: deadline)
        gst_deinit()
    }

    /// Waits until every pipeline that was let go of is at NULL and freed. Blocks; never call it on a
    /// streaming thread.
    ///
    /// - Returns: False where one is stuck.
    @discardableResult
    public static func waitForTeardown(deadline: Duration = teardownDeadline) -> Bool {
        underway.wait(timeout: .now() + deadline.dispatchInterval) == .success
    }

    /// The same without a thread: suspends.
    ///
    /// ```swift
    /// await GStreamer.teardown()  // the last line of a program
    /// ```
    ///
    /// A process that ends while a pipeline is being freed may crash: its libraries are taken down under
    /// the threads that still use them. Those of OpenGL do.
    ///
    /// - Returns: False where one is stuck.
    @discardableResult
    public static func teardown(within deadline: Duration = teardownDeadline) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = Answer(continuation)
            let limit = OneShotTimer(after: deadline) { answer.give(false) }
            underway.notify(queue: .global()) {
                limit.cancel()
                answer.give(true)
            }
        }
    }

    /// The first one counts.
    private final class Answer: Sendable {
        private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

        init(_ continuation: CheckedContinuation<Bool, Never>) {
            self.continuation = Mutex(continuation)
        }

        func give(_ value: Bool) {
            continuation.withLock { $0.take() }?.resume(returning: value)
        }
    }

    /// Runs `body` on `queue`, and has the wait for teardown wait for it: it ends a pipeline.
    package static func countAsTeardown(
        on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let work = SingleUse(body)
        underway.enter()
        queue.async {
            _ = work.perform()
            underway.leave()
        }
    }

    /// Changes of state under way, among them those of pipelines whose last owner let go.
    private static let underway = DispatchGroup()

    private static let initialized: Result<Void, PipelineError> = {
        var error: UnsafeMutablePointer<GError>?
        guard gst_init_check(nil, nil, &error) != 0 else {
            let text = error.map { String(cString: $0.pointee.message) }
            error.map { g_error_free($0) }
            return .failure(
                PipelineError(
                    .initializationFailed, message: text ?? "GStreamer could not be initialised",
                    advice: "check the installation with gst-inspect-1.0"))
        }
        LogCapture.install()
        Framebuffer.keepFromBeingChosen()
        return .success(())
    }()
}
